// Package planfile reads and writes the plan file of a job. The plan fixes the inputs of the job, so that many machines
// read their shards of the same data.
//
// A plan is JSON: a header, and the files in the order of their rows, one per line. So a machine can keep only the
// lines with files of its own shard. The ID of a plan is a digest of everything else in it. A plan without footers
// (Header.Footers) only names the files, and contains nothing that is stored in the files' footers.
//
//	{"schema":"ufs-stream/plan/v1","id":"…","options":{…},…,"files":[
//	{"path":"/lake/a.parquet","bytes":1234,…},
//	{"path":"/lake/b.parquet","bytes":1234,…}
//	]}
package planfile
