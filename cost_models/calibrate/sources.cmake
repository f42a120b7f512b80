# Fits of measured tables. Eigen's Levenberg-Marquardt is used in Optimise.cpp alone.
set(BRAID_CALIBRATE_SOURCES
  calibrate/CheckTable.cpp
  calibrate/Constants.cpp
  calibrate/Fit.cpp
  calibrate/FitReport.cpp
  calibrate/NcclTestsText.cpp
  calibrate/Noise.cpp
  calibrate/Optimise.cpp
  calibrate/OsuText.cpp
  calibrate/Predict.cpp
  calibrate/Probe.cpp
  calibrate/ProbeEngine.cpp
  calibrate/Published.cpp
  calibrate/ReadTable.cpp
  calibrate/Rebase.cpp)
