// Package request holds the request of a run in its parts, and the options by name: package ufs, which programs import,
// has the same types under the same names.
//
// A [Request] names the data ([Input]), the columns that become features ([Columns]), the method and the features to
// select ([Choice]), the resources ([Limits], [Checkpoint]) and the receivers of events ([Hooks]). Other requests are
// made of the same parts. The functions check the parts, fill in defaults, and read and write the options that
// statistics, plans and selections record.
package request
