mod laws;
mod papers;
