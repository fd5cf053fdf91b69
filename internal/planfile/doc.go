// Package planfile reads and writes the plan file of a job, which freezes its inputs so that many machines read
// their parts of the same data.
//
// It is JSON: a header, and the files in the order of their rows, one a line, so that a machine takes the lines
// of its own shard and stores no others. Its ID is a digest of the rest. A plan without footers
// (Header.Footers) only names files, like the log of a table format.
//
//	{"schema":"ufs-stream/plan/v1","id":"…","options":{…},…,"files":[
//	{"path":"/lake/a.parquet","bytes":1234,…},
//	{"path":"/lake/b.parquet","bytes":1234,…}
//	]}
package planfile
