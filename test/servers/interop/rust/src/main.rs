//! The side of the crate zookeeper-client in a shared line.
//!
//! Arguments: the servers to elect on, the servers of the journal, the session timeout in milliseconds, the journal. Commands come
//! on standard input, one a line, and what happens is written to standard output. The end of the input is the end of the program.

use std::collections::HashMap;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::oneshot;
use zookeeper_client::{Acls, Client, CreateMode, LockOptions, LockPrefix};

/// Takes a place of Curator's in a line, says when it is first, and leaves when it is told.
async fn take(client: Client, kind: String, id: String, path: String, turn: oneshot::Receiver<()>) -> Result<(), String> {
    let acls = Acls::anyone_all();
    let options = LockOptions::new(acls)
        .with_ancestor_options(CreateMode::Container.with_acls(acls))
        .map_err(|e| e.to_string())?;
    let prefix = LockPrefix::new_curator(&path, &kind).map_err(|e| e.to_string())?;
    let lock = client.lock(prefix, id.as_bytes(), options).await.map_err(|e| e.to_string())?;
    println!("leader {id} {}", lock.lock_path());
    let _ = turn.await;
    println!("stopped {id}");
    drop(lock);
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let timeout = Duration::from_millis(args[3].parse()?);
    let client = Client::connector().with_session_timeout(timeout).connect(&args[1]).await?;
    println!("ready");
    let mut turns = HashMap::new();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["join", kind, id, path] => {
                let (give, turn) = oneshot::channel();
                turns.insert(id.to_string(), give);
                let place = take(client.clone(), format!("{kind}-"), id.to_string(), path.to_string(), turn);
                tokio::spawn(async move {
                    if let Err(e) = place.await {
                        println!("error {e}");
                    }
                });
            }
            ["yield", id] => {
                if let Some(give) = turns.remove(id) {
                    let _ = give.send(());
                }
            }
            _ => println!("error what is {line}?"),
        }
    }
    Ok(())
}
