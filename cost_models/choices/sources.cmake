# Relative to cost_models/.
set(BRAID_CHOICES_SOURCES
  choices/EmitNcclEnvironment.cpp
  choices/EmitNcclTuner.cpp
  choices/EmitOpenMpiRules.cpp
  choices/Ranges.cpp
  choices/Shapes.cpp)
