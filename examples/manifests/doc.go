// Package manifests is the test of the examples for Kubernetes and AWS Batch, in a module of
// its own because of what it imports; it has no code but tests.
//
//  1. The manifests are decoded strictly into the types of k8s.io/api and go through what the
//     API server does when an object is created: defaults and validation. The documents for
//     AWS are decoded strictly into the types of its SDK.
//  2. Laws of this project are checked that no API knows: one number of shards everywhere, the
//     exit codes of package exit, memory above --memory-limit.
//  3. run.sh runs as written. Its kubectl is this test binary, which creates the objects for
//     Kubernetes' own Job controller; the pods that it makes are run as processes of the real
//     program. submit.sh runs with an aws that does what AWS Batch documents.
package manifests
