// Package deploy has files to copy for a command under incumbent elect: a unit of systemd, manifests of Kubernetes,
// and a Containerfile. Its tests run what these files run.
package deploy
