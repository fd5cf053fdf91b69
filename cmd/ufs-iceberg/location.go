package main

import (
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/ufs-stream/ufs-stream/internal/app/shell"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// location is the name of a file in a table's metadata, parsed: a path, a web address, or an object. It has no
// parameters, because metadata written by other programs must not choose a server or credentials.
type location struct {
	name    string // a path, or a URL in the form of ufs-stream
	bucket  string // URL of the bucket, if it is an object
	account string // storage account of Azure, if the metadata contain it
}

// azureHost matches the authority in Azure's URLs: CONTAINER@ACCOUNT.dfs.core.windows.net.
var azureHost = regexp.MustCompile(`^([a-z0-9$-]+)@([a-z0-9]+)\.(?:dfs|blob)\.[a-z0-9.-]+$`)

// parseLocation parses a location in the way of the file system that wrote it: % and ? are ordinary characters of
// names. So it does not use a parser of URLs.
func parseLocation(text string) (location, error) {
	scheme, rest, ok := strings.Cut(text, ":")
	switch {
	case strings.ContainsFunc(text, unicode.IsControl):
		return location{}, stream.Dataf(strconv.Quote(text), "the table's metadata name this file, and no file's name has such characters")
	case strings.HasPrefix(text, "/"):
		return location{name: path.Clean(text)}, nil
	case !ok:
		return location{}, stream.Dataf(text, "the table's metadata name this file without saying from where")
	case scheme == "file":
		return parseFileLocation(text, rest)
	case scheme == "http" || scheme == "https":
		if _, err := store.Parse(text); err != nil {
			return location{}, stream.Dataf(place.DisplayName(text), "the table's metadata name a file by an address that cannot be read: %v", err)
		}
		return location{name: text}, nil
	}
	rest, ok = strings.CutPrefix(rest, "//")
	bucket, key, _ := strings.Cut(rest, "/")
	account := ""
	switch scheme {
	case "s3", "s3a", "s3n":
		scheme = "s3"
	case "gs", "azblob":
	case "abfs", "abfss", "wasb", "wasbs":
		if m := azureHost.FindStringSubmatch(bucket); m != nil {
			bucket, account = m[1], m[2]
		}
		scheme = "azblob"
	default:
		e := stream.Dataf(text, "the table has files in a store of an unknown kind, %s://", scheme)
		e.Remedy = stream.Textf("copy the table to S3, Google Cloud Storage, Azure's blob storage or a disk")
		return location{}, e
	}
	at, err := store.Parse(scheme + "://" + bucket)
	if err != nil || !ok || at.Bucket != bucket {
		return location{}, stream.Dataf(scheme+"://…", "the table's metadata name a file by an address that cannot be read: want %s://BUCKET/KEY", scheme)
	}
	return location{at.WithKey(key).String(), at.String(), account}, nil
}

func parseFileLocation(text, rest string) (location, error) {
	if authority, ok := strings.CutPrefix(rest, "//"); ok {
		rest = strings.TrimPrefix(authority, "localhost")
	}
	if !strings.HasPrefix(rest, "/") {
		return location{}, stream.Dataf(text, "the table's metadata name a file of another machine, or none")
	}
	return location{name: path.Clean("/" + strings.TrimLeft(rest, "/"))}, nil
}

// resolvePlace returns the path or URL with which ufs-stream opens a file that a table's metadata name. It returns an
// error if the file is outside the table's folder or bucket, unless the user allows its place.
func (l *lake) resolvePlace(text string) (string, error) {
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "./"), l.relativeRoot+"/"); ok && l.relativeRoot != "" {
		text = l.folder + "/" + rest
	}
	named, err := parseLocation(text)
	if err != nil {
		return "", err
	}
	if l.scope == nil {
		if err := l.adoptBucket(named); err != nil {
			return "", err
		}
	}
	if named.account == "" {
		return l.scope.Resolve(named.name)
	}
	bucketOfAccount := named.bucket + "?storage_account=" + named.account
	exact, err1 := store.Parse(bucketOfAccount)
	bare, err2 := store.Parse(named.name)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	if opened, err := l.scope.Resolve(exact.WithKey(bare.Key).String()); err == nil {
		return opened, nil // the user allowed the bucket of this storage account
	}
	opened, err := l.scope.Resolve(named.name)
	if err != nil {
		return "", err
	}
	at, err := store.Parse(opened)
	if err != nil {
		return "", err
	}
	if own := at.AzureAccount(); own != "" && own != named.account {
		e := stream.Dataf(l.table, "it names %s in the storage account %s, and its own is %s", named.name, named.account, own)
		e.Remedy = stream.Textf("if you trust it, add {allow} %s", shell.Quote(bucketOfAccount))
		return "", e
	}
	return opened, nil
}

// adoptBucket makes the bucket of a location the bucket of the table. The user chose the catalog, so its choice of a
// bucket is trusted, but not its choice of files on this machine or of web servers.
func (l *lake) adoptBucket(named location) error {
	var own []string
	if given := named.bucket; given != "" {
		if l.userParameters != "" {
			given += "?" + l.userParameters
		}
		if _, err := store.Parse(given); err != nil {
			return stream.Errorf("{store}: %w", err)
		}
		own = []string{given}
	}
	var err error
	l.scope, err = place.NewScope(l.table, own, l.allow)
	return err
}

func tableFolder(metadataFile string) string {
	if place.IsURL(metadataFile) {
		return metadataFile // the scope of a URL is its whole bucket
	}
	folder := filepath.Dir(metadataFile)
	if filepath.Base(folder) == "metadata" {
		folder = filepath.Dir(folder)
	}
	return folder
}
