package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// packed is one file of an archive.
type packed struct {
	name string
	mode fs.FileMode
	text []byte
}

// pack writes the archive of a program, with the licences, and its SBOM. All files have the time of the commit.
func (r *release) pack(src *source, b *built, goLicence []byte) error {
	list, err := sbom(src, b)
	if err != nil {
		return err
	}
	name := "incumbent_" + r.version + "_" + b.platform.String()
	files := []packed{
		{name + "/" + b.binary(), 0o755, b.bytes},
		{name + "/CHANGELOG.md", 0o644, src.files["CHANGELOG.md"]},
		{name + "/LICENSE", 0o644, src.files["LICENSE"]},
		{name + "/LICENSE-go", 0o644, goLicence},
		{name + "/THIRD_PARTY.md", 0o644, src.files["THIRD_PARTY.md"]},
	}
	archive, suffix := tarball, ".tar.gz"
	if b.goos == "windows" {
		archive, suffix = zipped, ".zip"
	}
	text, err := archive(files, src.time)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(r.dir, name+suffix), text, 0o644),
		os.WriteFile(filepath.Join(r.dir, name+".cdx.json"), list, 0o644),
	)
}

// tarball returns the files as .tar.gz.
func tarball(files []packed, at time.Time) ([]byte, error) {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.text)), ModTime: at}
		h.Format = tar.FormatUSTAR
		err := t.WriteHeader(h)
		if err == nil {
			_, err = t.Write(f.text)
		}
		if err != nil {
			return nil, err
		}
	}
	err = errors.Join(t.Close(), z.Close())
	return buf.Bytes(), err
}

// zipped returns the files as .zip.
func zipped(files []packed, at time.Time) ([]byte, error) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(f.text)
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return buf.Bytes(), err
}

// writeChecksums writes SHA256SUMS of all that is in a folder, as `sha256sum --check` reads it.
func writeChecksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), sums.Bytes(), 0o644)
}
