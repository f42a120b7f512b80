# Who the ranks are, how they meet, what the launcher tells them, which processors they use. tools/braid-launch builds the
# same files into itself.
set(BRAID_RT_BOOTSTRAP_SOURCES
  bootstrap/Affinity.cpp
  bootstrap/Control.cpp
  bootstrap/Handshake.cpp
  bootstrap/Hmac.cpp
  bootstrap/HostIdentity.cpp
  bootstrap/LauncherLink.cpp
  bootstrap/RankInfo.cpp
  bootstrap/Socket.cpp
  bootstrap/StoreClient.cpp
  bootstrap/StoreExchange.cpp
  bootstrap/StoreServer.cpp
  bootstrap/StoreThread.cpp)
list(APPEND BRAID_RT_LIBRARIES hwloc)
