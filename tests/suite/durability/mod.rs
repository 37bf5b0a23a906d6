//! Nothing is lost when the process, the disk or the power goes.

mod damage;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod kill;
mod power_loss;
