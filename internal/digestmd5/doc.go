// Package digestmd5 is the SASL mechanism DIGEST-MD5 (RFC 2831) as ZooKeeper's client and its server use it: by
// passwords of users, in UTF-8, without protection of what follows the login. Pure, but for the random text of each
// login.
//
// What is worth knowing: the password does not travel, but who reads a login can guess at it, and the rest of the
// connection is not protected. RFC 6331 has retired the mechanism for these reasons. It is safe only in TLS.
package digestmd5
