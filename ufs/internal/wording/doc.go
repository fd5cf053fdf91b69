// Package wording forms the numbers, lists and plurals in the messages of package ufs.
package wording
