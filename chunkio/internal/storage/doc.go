// Package storage reads the bytes of local files and of objects in stores. An object is opened with one request for its
// end, and the ranges of a row group are fetched before they are decoded. [FetchFile] opens files that are read whole.
package storage
