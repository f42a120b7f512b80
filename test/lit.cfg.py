# Configuration of lit. Two ways in:
#   lit build/test                          through lit.site.cfg.py, which CMake writes
#   lit test/dialect --param build=DIR      straight from the tree; DIR (default: build) is any build folder
import glob
import os

import lit.formats

config.name = "braid"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["data", "e2e", "bars", "unit", "Inputs", "CMakeLists.txt", "README.md"]

source = getattr(config, "braid_source_dir", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.path.abspath(lit_config.params.get("build", getattr(config, "braid_build_dir", os.path.join(source, "build"))))
llvm = getattr(config, "llvm_tools_dir", "/usr/lib/llvm-22/bin")

config.test_source_root = os.path.join(source, "test")
config.test_exec_root = os.path.join(build, "test")

for program in ("braid-opt",):
    if not os.path.exists(os.path.join(build, "bin", program)):
        lit_config.fatal(f"{os.path.join(build, 'bin', program)} not found, build it or give --param build=DIR")

config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), llvm, os.environ["PATH"]])
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["FILECHECK_OPTS"] = "--dump-input=fail"

plugins = glob.glob(os.path.join(build, "**", "*BraidPlugin.so"), recursive=True)
config.substitutions += [
    ("%braid_src", source),
    ("%braid_build", build),
    ("%braid_plugin", plugins[0] if plugins else os.path.join(build, "lib", "BraidPlugin.so")),
    ("%braid_runtime", os.path.join(build, "lib", "libbraid_rt.so")),
    ("%clusters", os.path.join(source, "cost_models", "clusters")),
    ("%data", os.path.join(source, "test", "data")),
    ("%measured", os.path.join(source, "test", "data", "measured")),
]

# What a test may ask for with REQUIRES.
if plugins:
    config.available_features.add("plugin")
for program in ("braid-bench", "braid-run", "braid-sim", "braid-topo"):
    if os.path.exists(os.path.join(build, "bin", program)):
        config.available_features.add(program)
python = os.path.join(build, "venv", "bin", "python")
if glob.glob(os.path.join(build, "venv", "lib", "python*", "site-packages", "jax", "__init__.py")):
    config.available_features.add("jax")
    config.substitutions.append(("%python", python))
