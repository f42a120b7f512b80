"""Every option that a tool's --help lists says its default, or that it is required. Arguments: commands, each one word list."""
import re
import subprocess
import sys

KNOWN = {"--help", "--help-list", "--version", "-h"}


def options(text):
    """(option, its whole description); an option begins a line, and goes on in the lines that are further to the right."""
    found = []
    for line in text.splitlines():
        begin = re.match(r"  (?: ?-{1,2}[a-zA-Z])", line)
        if begin:
            found.append(line.strip())
        elif found and line.startswith("     "):
            found[-1] += " " + line.strip()
    return [f for f in found if f.split()[0].split("=")[0] not in KNOWN]


failed = total = 0
for command in sys.argv[1:]:
    text = subprocess.run(command.split() + ["--help"], capture_output=True, text=True, check=True).stdout
    listed = options(text)
    silent = [o for o in listed if not re.search(r"default|required|absent", o)]
    for option in silent:
        print(f"{command}: no default: {option}")
    failed += len(silent)
    total += len(listed)
print(f"{failed} of {total} options without a default")
sys.exit(failed > 0)
