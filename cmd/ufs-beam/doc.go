// Command ufs-beam gathers the statistics of a plan file as a job of Apache Beam: on Flink,
// Spark, Dataflow, or any other runner that speaks Beam's portable protocol.
//
//	ufs-stream plan s3://lake/events -o job.plan.json
//	ufs-beam --plan job.plan.json --shards 100 --parts s3://lake/parts/ --output s3://lake/all.ufs --runner flink --endpoint localhost:8099
//	ufs-stream select --stats s3://lake/all.ufs -k 50
//
// The pipeline (pipeline.go) has three steps: it lists the shard numbers, scans each shard into a
// part file (scan.go), and merges the part files on two levels, in an order that depends only on
// the number of shards (merge.go). A graph method, and --profile-round, run the same steps for
// profiles first. The steps pass only the names of files to each other (piece.go), and no statistics:
// 200 MB of statistics need 50 s and 7 GB through a runner, and 4 s and 1.3 GB as files.
//
// The same program is the worker: the runner starts it with Beam's own flags.
package main
