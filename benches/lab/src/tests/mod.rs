mod agreement;
mod classes;
mod measures;
mod siblings;
