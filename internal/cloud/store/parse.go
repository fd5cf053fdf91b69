package store

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

func parametersOf(scheme string) []string {
	switch scheme {
	case "s3":
		return []string{"endpoint", "use_path_style", "region", "profile", "anonymous"}
	case "gs":
		return []string{"endpoint", "anonymous"}
	}
	return []string{"storage_account", "endpoint", "domain", "protocol", "anonymous"}
}

var (
	parameterMark = convert.CompilePattern(`\?([A-Za-z][A-Za-z0-9_.-]*)=`)
	// foreignName matches parameters of other programs, and names of secrets, which nobody should write into a URL.
	// Parse refuses such a name after ?, and does not treat it as part of the key.
	foreignName = convert.CompilePattern(`(?i)key|secret|token|password|credential|signature|^sig$|^sv$|^se$|^x-|awssdk|https|tls|ssl|path_?style|hostname|sse|kms|accelerate|fips|dualstack|rate_limiter|universe|localemu|cdn|access_id|version`)
	bucketName  = convert.CompilePattern(`^[A-Za-z0-9$][A-Za-z0-9._-]*$`)
)

// Parse parses a URL. Errors are *stream.UsageError, and do not repeat text that may be secret.
func Parse(arg string) (Location, error) {
	scheme, rest, _ := strings.Cut(arg, "://")
	if !IsURL(arg) {
		return Location{}, stream.Usagef("not the URL of an object store: it begins with s3://, gs://, azblob:// or https://")
	}
	if scheme == "https" || scheme == "http" {
		return parseWebAddress(scheme, rest)
	}
	l := Location{Scheme: scheme}
	rest, query, err := cutQuery(scheme, rest)
	if err != nil {
		return Location{}, err
	}
	l.Bucket, l.Key, _ = strings.Cut(rest, "/")
	switch {
	case l.Bucket == "":
		return Location{}, stream.Usagef("a URL of %s:// without a bucket: write %s://BUCKET/KEY", scheme, scheme)
	case !bucketName().MatchString(l.Bucket):
		// The text is not repeated: it may be KEY:SECRET@bucket.
		return Location{}, stream.Usagef("the text after %s:// is not the name of a bucket (letters, digits, dots, hyphens); "+
			"credentials do not belong into a URL, they are taken from the environment and from the store's own configuration files", scheme)
	}
	l.query, err = parseParameters(scheme, query)
	return l, err
}

// parameterStart returns the position of the last ? in s after which the name of a parameter and = follow, or -1.
func parameterStart(s string) int {
	all := parameterMark().FindAllStringIndex(s, -1)
	if len(all) == 0 {
		return -1
	}
	return all[len(all)-1][0]
}

// cutQuery separates the query from the bucket and key. Text after ? whose first name is not a known parameter is part
// of the key. If a later name is known, or the first resembles a known or foreign name, it returns an error.
func cutQuery(scheme, s string) (path, query string, err error) {
	at := parameterStart(s)
	if at < 0 {
		return s, "", nil
	}
	known := parametersOf(scheme)
	query = s[at+1:]
	var unknown []string
	for _, part := range strings.Split(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if slices.Contains(known, name) {
			return s[:at], query, nil
		}
		unknown = append(unknown, name)
	}
	first := unknown[0]
	if suggest.NearestName(first, known) != "" || foreignName().MatchString(first) {
		return "", "", errUnknownParameter(scheme, first)
	}
	return s, "", nil
}

func errUnknownParameter(scheme, name string) error {
	known := parametersOf(scheme)
	return stream.Usagef("%s:// knows no parameter %s, but %s%s", scheme, name, strings.Join(known, ", "), suggest.DidYouMean(name, known))
}

func parseParameters(scheme, query string) (url.Values, error) {
	if query == "" {
		return nil, nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, stream.Usagef("the part of the URL of %s:// after ? cannot be read: write name=value&name=value, with %%26 for & in a value and %%25 for %%", scheme)
	}
	for name, all := range values {
		value := all[0]
		switch {
		case !slices.Contains(parametersOf(scheme), name):
			if !regexp.MustCompile(`^[A-Za-z0-9_.-]{1,40}$`).MatchString(name) {
				name = "of that name"
			}
			return nil, errUnknownParameter(scheme, name)
		case len(all) > 1:
			return nil, stream.Usagef("the parameter %s is given twice", name)
		case name == "anonymous" || name == "use_path_style":
			if value != "true" && value != "false" {
				return nil, stream.Usagef("the parameter %s is true or false", name)
			}
		case name == "protocol" && value != "http" && value != "https":
			return nil, stream.Usagef("the parameter protocol is http or https")
		case name == "endpoint":
			if _, err := parseEndpoint(value); err != nil {
				return nil, stream.Usagef("the parameter endpoint %w", err)
			}
		case value == "":
			return nil, stream.Usagef("the parameter %s is empty", name)
		case strings.ContainsAny(value, "@?#/\\\r\n") || name == "domain" && !isValidHost(value) ||
			(name == "region" || name == "storage_account") && !accountNamePattern().MatchString(value):
			return nil, stream.Usagef("the parameter %s has characters that cannot be in it", name)
		}
	}
	return values, nil
}

// parseEndpoint parses the address of a server. Its errors do not repeat the address, which may contain secrets.
func parseEndpoint(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !isValidHost(u.Host) ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, stream.Errorf("is not http://HOST:PORT or https://HOST, without a name, a password or a query")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

func isValidHost(s string) bool {
	host := s
	if h, port, err := net.SplitHostPort(s); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return false
		}
		host = h
	} else if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		host = s[1 : len(s)-1]
	} else if strings.Contains(s, ":") {
		return false
	}
	if strings.Contains(host, ":") {
		return net.ParseIP(host) != nil
	}
	return host != "" && !strings.ContainsFunc(host, func(r rune) bool {
		return r <= ' ' || r < 0x80 && !strings.ContainsRune("-._", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

func parseWebAddress(scheme, afterScheme string) (Location, error) {
	l := Location{Scheme: scheme}
	afterScheme, l.raw, _ = strings.Cut(afterScheme, "?")
	l.Bucket, l.Key, _ = strings.Cut(afterScheme, "/")
	if !isValidHost(l.Bucket) {
		return Location{}, stream.Usagef("the text after %s:// is not HOST or HOST:PORT; a name and a password before the host are not supported", scheme)
	}
	if strings.Contains(l.Key, "#") || strings.Contains(l.raw, "#") {
		return Location{}, stream.Usagef("a URL of %s:// with #, which no server gets to see: write %%23 if it belongs to the file's name", scheme)
	}
	return l, nil
}
