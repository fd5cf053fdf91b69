// Command ufs-beam gathers the statistics of a plan file as a job of Apache Beam: on Flink,
// Spark, Dataflow, or any other runner that speaks Beam's portable protocol.
//
//	ufs-stream plan s3://lake/events -o job.plan.json
//	ufs-beam --plan job.plan.json --shards 100 --parts s3://lake/parts/ --output s3://lake/all.ufs --runner flink --endpoint localhost:8099
//	ufs-stream select --stats s3://lake/all.ufs -k 50
//
// The pipeline (pipeline.go) is a list of shard numbers; a step that scans a shard into a part
// file (scan.go); and two levels of merging part files in an order that is fixed by the number of
// shards alone (merge.go). A graph method, and --profile-round, put the same three steps for
// profiles before that. What travels between the steps is the names of files (piece.go), never
// statistics: 200 MB of those take 50 s and 7 GB through a runner, and 4 s and 1.3 GB as files.
//
// The same program is the worker: the runner starts it with flags of Beam's own.
package main
