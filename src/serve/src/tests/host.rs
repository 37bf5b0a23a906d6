use super::*;

fn asked(host: &str, target: &str) -> Request<Body> {
    get_request(target, &[("host", host)])
}

async fn status_for(config: &Config, host: &str, target: &str) -> u16 {
    let app = router(state(config.clone()));
    ask(&app, asked(host, target)).await.status.as_u16()
}

#[tokio::test]
async fn host_rebinding_refused() {
    let config = Config {
        public_url: "https://Search.example.org/taojin".to_owned(),
        allowed_hosts: vec!["box.lan".to_owned()],
        ..Config::default()
    };
    for target in [
        "/",
        "/status",
        "/api/status",
        "/metrics",
        "/api/search?q=油价",
    ] {
        let target = target.replace("油价", "a");
        for host in [
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "a b",
        ] {
            assert_eq!(
                status_for(&config, host, &target).await,
                421,
                "{host} {target}"
            );
        }
        for host in [
            "localhost",
            "localhost:8080",
            "box",
            "taojin.localhost",
            "127.0.0.1:8080",
            "[::1]:8080",
            "192.0.2.7",
            "search.example.org",
            "search.example.org.:443",
            "BOX.lan:80",
        ] {
            assert_eq!(
                status_for(&config, host, &target).await,
                200,
                "{host} {target}"
            );
        }
    }
}

#[tokio::test]
async fn host_refusal_names_setting() {
    let app = router(state(Config::default()));
    let answer = ask(&app, asked("evil.example", "/api/status")).await;
    let detail = answer.problem(421);
    assert!(detail.contains("serve.allowed_hosts"), "{detail}");

    let mut open = Config {
        listen: "0.0.0.0:8080".parse().unwrap(),
        ..Config::default()
    };
    assert_eq!(status_for(&open, "search.lan", "/healthz").await, 200);
    open.allowed_hosts = vec!["search.lan".to_owned()];
    assert_eq!(status_for(&open, "search.lan", "/healthz").await, 200);
    assert_eq!(status_for(&open, "evil.example", "/healthz").await, 421);
}
