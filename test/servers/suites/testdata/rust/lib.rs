//! The part of testcontainers that the tests of zookeeper-client use, with a process in place of each container: java,
//! as in PATH, with what SUITE_CLASSPATH names. One server serves each container: an ensemble wants docker's network.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub mod clients {
    use crate::{Container, GenericImage, RunnableImage};

    #[derive(Default)]
    pub struct Cli;

    impl Cli {
        pub fn run<I: Into<RunnableImage<GenericImage>>>(&self, image: I) -> Container<'static, GenericImage> {
            Container::launch(&image.into())
        }
    }
}

pub mod core {
    pub use crate::{Container, Healthcheck, LogStream, RunnableImage, WaitFor};
}

pub mod images {
    pub mod generic {
        pub use crate::GenericImage;
    }
}

/// What runs. It is ready once it answers.
pub struct GenericImage {
    tag: String,
    flags: String,
}

impl GenericImage {
    pub fn new(_name: &str, tag: &str) -> Self {
        GenericImage { tag: tag.to_owned(), flags: String::new() }
    }

    pub fn with_env_var(mut self, name: &str, value: impl Into<String>) -> Self {
        if name == "SERVER_JVMFLAGS" {
            self.flags = value.into();
        }
        self
    }

    pub fn with_healthcheck(self, _check: Healthcheck) -> Self {
        self
    }

    pub fn with_wait_for(self, _until: WaitFor) -> Self {
        self
    }
}

#[derive(Default)]
pub struct Healthcheck;

impl Healthcheck {
    pub fn with_cmd<'a>(self, _words: impl Iterator<Item = &'a &'a str>) -> Self {
        self
    }

    pub fn with_interval(self, _pause: Duration) -> Self {
        self
    }

    pub fn with_retries(self, _most: u32) -> Self {
        self
    }
}

pub enum WaitFor {
    Healthcheck,
}

pub struct LogStream;

impl LogStream {
    pub fn wait_for_message(&self, _text: &str) -> Result<(), String> {
        Err("a process has no log of a container".to_owned())
    }
}

/// An image, and the files in it by their paths there.
pub struct RunnableImage<I> {
    image: I,
    files: HashMap<String, String>,
    network: bool,
}

impl From<GenericImage> for RunnableImage<GenericImage> {
    fn from(image: GenericImage) -> Self {
        RunnableImage { image, files: HashMap::new(), network: false }
    }
}

impl<I> RunnableImage<I> {
    pub fn with_volume<F: Into<String>, D: Into<String>>(mut self, (from, to): (F, D)) -> Self {
        self.files.insert(to.into(), from.into());
        self
    }

    pub fn with_network(mut self, _name: impl Into<String>) -> Self {
        self.network = true;
        self
    }
}

pub struct Container<'d, I> {
    port: u16,
    process: Mutex<Option<Child>>,
    of: std::marker::PhantomData<(&'d (), I)>,
}

static LAUNCHED: AtomicU32 = AtomicU32::new(0);

impl<I> Container<'_, I> {
    pub fn get_host_port(&self, _internal: u16) -> u16 {
        self.port
    }

    pub fn stdout(&self) -> LogStream {
        LogStream
    }

    pub fn start(&self) {
        panic!("a process that was stopped is not started again");
    }

    pub fn stop(&self) {
        if let Some(mut child) = self.process.lock().unwrap().take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn launch(what: &RunnableImage<GenericImage>) -> Self {
        assert_eq!(what.image.tag, "3.9.0", "there is one release of ZooKeeper");
        assert!(!what.network, "there is no network of docker");
        let number = LAUNCHED.fetch_add(1, Ordering::Relaxed);
        let dir = PathBuf::from(std::env::var("SUITE_DIR").unwrap()).join(format!("{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let (port, secure) = (free_port(), free_port());
        let mut config = what.files.get("/conf/zoo.cfg").map(|f| std::fs::read_to_string(f).unwrap()).unwrap_or_default();
        let tls = config.contains("secureClientPort=");
        let mut kept: Vec<String> = config
            .lines()
            .filter(|line| !["dataDir=", "clientPort=", "secureClientPort="].iter().any(|name| line.starts_with(name)))
            .map(str::to_owned)
            .collect();
        kept.push(format!("dataDir={}\nclientPort={port}\ntickTime=2000\nmaxClientCnxns=0", dir.display()));
        kept.push("admin.enableServer=false\n4lw.commands.whitelist=*".to_owned());
        if tls {
            kept.push(format!("secureClientPort={secure}"));
        }
        config = kept.join("\n") + "\n";
        let mut flags = what.image.flags.clone();
        for (inside, outside) in &what.files {
            config = config.replace(inside, outside);
            flags = flags.replace(inside, outside);
        }
        let file = dir.join("zoo.cfg");
        std::fs::write(&file, config).unwrap();
        let log = std::fs::File::create(dir.join("log")).unwrap();
        let child = Command::new("java")
            .args(flags.split_whitespace())
            .args(["-Dincumbent.release=3.9", "-cp", &std::env::var("SUITE_CLASSPATH").unwrap()])
            .arg("org.apache.zookeeper.server.quorum.QuorumPeerMain")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        await_server(port);
        Container { port: if tls { secure } else { port }, process: Mutex::new(Some(child)), of: std::marker::PhantomData }
    }
}

impl<I> Drop for Container<'_, I> {
    fn drop(&mut self) {
        self.stop();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn await_server(port: u16) {
    let end = Instant::now() + Duration::from_secs(120);
    while !serves(port) {
        assert!(Instant::now() < end, "the server does not serve");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn serves(port: u16) -> bool {
    let mut answer = String::new();
    if let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)) {
        let _ = server.set_read_timeout(Some(Duration::from_secs(5)));
        let _ = server.write_all(b"srvr").and_then(|()| server.read_to_string(&mut answer).map(|_| ()));
    }
    answer.contains("Mode: ")
}
