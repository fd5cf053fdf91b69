// Command ufs-beam computes the statistics of a plan file as a job of Apache Beam, on Flink, Spark, Dataflow, or any
// other runner that supports Beam's portable protocol.
//
//	ufs-stream plan s3://lake/events -o job.plan.json
//	ufs-beam --plan job.plan.json --shards 100 --parts s3://lake/parts/ --output s3://lake/all.ufs --runner flink --endpoint localhost:8099
//	ufs-stream select --stats s3://lake/all.ufs -k 50
//
// The pipeline (pipeline.go) has three steps. It lists the shard numbers, scans each shard into a part file (scan.go),
// and merges the part files on two levels, in an order that depends only on the number of shards (merge.go). If the
// method needs a graph, or with --profile-round, the same steps first run for profiles. The steps pass only the names
// of files to each other (merge.go), not the statistics: passing 200 MB of statistics through a runner needs 50 s and 7
// GB of memory, and through files 4 s and 1.3 GB.
//
// The same program is the worker, which the runner starts with Beam's own flags.
package main
