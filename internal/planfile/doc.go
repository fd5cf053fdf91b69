// Package planfile is the plan file of a job: what is read, frozen, so that many machines read
// their parts of the same thing.
//
// It is JSON: a header, and the files in the order of their rows, one a line, so that a
// machine takes the lines of its own shard and holds no others. Its ID is a digest of all the
// rest. A plan without footers (Header.Footers) only names files: a table format's log knows
// no more.
//
//	{"schema":"ufs-stream/plan/v1","id":"…","options":{…},…,"files":[
//	{"path":"/lake/a.parquet","bytes":1234,…},
//	{"path":"/lake/b.parquet","bytes":1234,…}
//	]}
package planfile
