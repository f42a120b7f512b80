# Messages over TCP, set up through the exchange of the bootstrap.
set(BRAID_RT_TCP_SOURCES
  transports/tcp/Connection.cpp
  transports/tcp/Mesh.cpp
  transports/tcp/PathMesh.cpp
  transports/tcp/TcpTransport.cpp)
