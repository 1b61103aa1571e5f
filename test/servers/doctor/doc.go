// Package doctor examines real ZooKeeper servers on which one condition after the other is planted: incumbent doctor
// finds each, and nothing on healthy ones. What needs no real server is tested in internal/doctor.
package doctor
