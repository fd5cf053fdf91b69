// Package caching keeps the statistics of an input for later requests on the same files:
//
//  1. [Answer] lists the files of a request. The names, sizes and versions of the files, and the options that shape
//     statistics, give the name of a statistics file in Request.Cache.
//  2. If that file is there, the request is answered from it, and no row is read. Otherwise it is made by one scan.
//  3. A request that statistics cannot answer reads its input as without a cache, and a remark gives the reason.
//
// A statistics file appears whole, and its name depends on its contents only. So any number of runs may make it at once.
package caching
