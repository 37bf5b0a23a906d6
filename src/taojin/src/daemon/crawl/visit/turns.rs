//! Places that sites take turns at: so many at one time, and of those that wait one of each site before the second of any.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use taojin_crawl::fair::FairQueue;
use tokio::sync::oneshot;

/// Places, and who waits for one.
#[derive(Debug, Clone)]
pub(super) struct SitePlaces(Arc<Mutex<Places>>);

#[derive(Debug)]
struct Places {
    free: usize,
    waiting: FairQueue<Arc<str>, oneshot::Sender<SitePlace>>,
}

/// A place that is taken; dropping it leaves it to the next.
#[derive(Debug)]
pub(super) struct SitePlace(Option<SitePlaces>);

impl SitePlaces {
    pub(super) fn new(count: usize) -> Self {
        SitePlaces(Arc::new(Mutex::new(Places {
            free: count.max(1),
            waiting: FairQueue::default(),
        })))
    }

    /// Waits for a place. Who gives up waiting, by dropping the future, is passed over.
    pub(super) async fn take(&self, site: &Arc<str>) -> SitePlace {
        let waits = {
            let mut places = self.lock();
            if places.free > 0 {
                places.free -= 1;
                return SitePlace(Some(self.clone()));
            }
            let (sender, waits) = oneshot::channel();
            places.waiting.push(Arc::clone(site), sender);
            waits
        };
        // The sender is dropped with the places only.
        waits.await.unwrap_or(SitePlace(None))
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a place to the next who still waits.
    fn leave(&self) {
        loop {
            let next = {
                let mut places = self.lock();
                let next = places.waiting.pop();
                if next.is_none() {
                    places.free += 1;
                }
                next
            };
            let Some(next) = next else {
                return;
            };
            match next.send(SitePlace(Some(self.clone()))) {
                Ok(()) => return,
                // It must not be left twice.
                Err(mut refused) => refused.0 = None,
            }
        }
    }
}

impl Drop for SitePlace {
    fn drop(&mut self) {
        if let Some(places) = self.0.take() {
            places.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    /// Whether a future is done; nothing wakes it.
    fn poll<F: Future>(future: &mut std::pin::Pin<Box<F>>) -> Option<F::Output> {
        let mut context = Context::from_waker(Waker::noop());
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        }
    }

    #[test]
    fn sites_take_turns_at_places() {
        let places = SitePlaces::new(2);
        let sites: [Arc<str>; 2] = ["bad", "good"].map(Arc::from);
        let mut first: Vec<_> = (0..2)
            .map(|_| poll(&mut Box::pin(places.take(&sites[0]))))
            .collect();
        assert!(first.iter().all(Option::is_some));
        let mut bad: Vec<_> = (0..8).map(|_| Box::pin(places.take(&sites[0]))).collect();
        assert!(bad.iter_mut().all(|waits| poll(waits).is_none()));
        let mut good: Vec<_> = (0..2).map(|_| Box::pin(places.take(&sites[1]))).collect();
        assert!(good.iter_mut().all(|waits| poll(waits).is_none()));
        // One of each, then the next of each.
        drop(first.pop());
        let one = poll(&mut bad[0]).expect("it waited longest");
        assert!(poll(&mut good[0]).is_none());
        drop(one);
        let two = poll(&mut good[0]).expect("the other site has its turn");
        drop(two);
        let three = poll(&mut bad[1]).expect("the first site again");
        assert!(poll(&mut good[1]).is_none());
        drop(three);
        let four = poll(&mut good[1]).expect("and the other one");
        // Who has given up is passed over.
        drop(bad.remove(2));
        drop(four);
        assert!(poll(&mut bad[2]).is_some());
    }

    #[test]
    fn places_are_all_free_again() {
        let places = SitePlaces::new(1);
        let site: Arc<str> = Arc::from("s");
        let taken = poll(&mut Box::pin(places.take(&site)));
        let mut waits: Vec<_> = (0..3).map(|_| Box::pin(places.take(&site))).collect();
        assert!(waits.iter_mut().all(|waits| poll(waits).is_none()));
        // All give up, one of them after it was given the place.
        drop(waits.split_off(1));
        drop(taken);
        drop(waits);
        assert_eq!(places.lock().free, 1);
        assert!(places.lock().waiting.is_empty());
    }
}
