"""`python -m braid_jax`: the command line (cli.py)."""
import sys

from .cli import tool

sys.exit(tool())
