"""`python -m braid_jax`: the command line (cli.py)."""
import sys

from .cli import main

sys.exit(main())
