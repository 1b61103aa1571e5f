// Package browser opens the pages of packages page, page/live and play/web in Chromium: what they show, what keys and
// clicks do, that they load nothing, that texts of logs stay texts, and how they look. It is a module of its own, so
// that nobody else has its libraries.
//
//	go test ./...                 in this folder
//	go test ./... -args -shots /tmp/shots   keeps a picture of each incident's page and of each lesson;
//	                                       -dark shows all pages in dark colours
package browser
