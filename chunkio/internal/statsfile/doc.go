// Package statsfile writes and reads the container of statistics (.ufs): a header and named sections, all with
// checksums.
package statsfile
