//! Failure paths first; the network is loopback, the servers are ours and misbehave on request.

mod body;
mod client;
mod gate;
mod guard;
mod head;
mod proxy;
mod robots;
mod robots_cache;
mod robots_reader;
mod server;
mod warc;
