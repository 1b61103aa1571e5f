// Package systems runs systems that people run on ZooKeeper, as Maven has them, on zkmem and on a real ZooKeeper,
// one after the other, through the same faults: sessions that end, connections that are cut, a server that is away,
// and kill -9 of the process that is elected. After each fault the system has to work again, with real work of its
// own.
//
// Every process reaches its servers through a tap of its own, which counts the requests by operation and answer,
// inside multis too. Both servers must have given the same answers to the same operations; a pair that a race
// decides needs a reason.
//
// make systems runs it, PART=hadoop one system, PART=short the three short ones. It writes results.md here, and the
// table in docs/testing.md. The ordinary tests are about this package's own parts only.
package systems
