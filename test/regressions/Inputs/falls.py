"""falls.py TEXT FILE FILE ...: the number of lines with TEXT rises from no file to the next one, and the last one has fewer than the first."""
import sys
from pathlib import Path

counts = [sum(sys.argv[1] in line for line in Path(file).read_text().splitlines()) for file in sys.argv[2:]]
if counts != sorted(counts, reverse=True) or counts[-1] >= counts[0]:
    sys.exit(f"{sys.argv[1]}, expected numbers that fall, got {counts}")
print(counts)
