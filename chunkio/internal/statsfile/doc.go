// Package statsfile writes and reads the container of statistics (.ufs): a header and named sections, compressed and
// checked by digests.
package statsfile
