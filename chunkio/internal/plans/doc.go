// Package plans writes a catalog to a plan file, and makes the catalog of a shard from it. A plan file freezes a
// catalog, so that many machines read their parts of the same input: a machine need not list files or read footers of
// files outside its shard, and all machines agree on columns, positions and the rows that a condition selects.
package plans
