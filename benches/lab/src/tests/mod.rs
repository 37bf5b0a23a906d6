mod agreement;
mod measures;
mod siblings;
