package screen

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const urlStartPattern = `(?i:([a-z][a-z0-9+.-]*)(?::|%(?:25)*3a)(?:\\*/|%(?:25)*2f){2})`

var (
	// urlStart is how a URL of any scheme begins: as it is, as JSON may write it, or percent-encoded, once or several times.
	urlStart = regexp.MustCompile(urlStartPattern)
	nested   = regexp.MustCompile(`^` + urlStartPattern)
	// signed are parameters that are secret wherever they stand, also after text that looks like no URL.
	signed = regexp.MustCompile(`(?i)((?:[?&;]|\\u0026|%(?:25)*26|%(?:25)*3f)(?:sig|signature|x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)|` +
		`awsaccesskeyid|googleaccessid|key-pair-id|policy|sas|token|[a-z]+[_-]token|secret|password|passwd|pwd|api[_-]?key|accountkey|sharedaccesssignature)` +
		`(?:=|%(?:25)*3d))((?:[^&\s"\\]|\\[^"\s])+)`)
	// host is what a URL may have before its path, with a port, also in advice.
	host = regexp.MustCompile(`^(?:\[[0-9A-Fa-f:.%]*\]|[^:\[\]@\\"]*)(?::(?:[0-9]*|PORT))?$`)
	// query is where the parameters of a bucket's URL begin: its keys, and patterns of them, may hold a ? too.
	query = regexp.MustCompile(`\?[A-Za-z][A-Za-z0-9_.-]*=`)
	// parameterName is the name of a parameter, which may be shown.
	parameterName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,40}$`)
	// parameterValue is a value that the stores' own parameters can have.
	parameterValue = regexp.MustCompile(`^[A-Za-z0-9_.:/\[\]%~-]*$`)
)

// closing has the characters that may follow a URL and are no part of it.
const closing = `"'\:;,.!?)]}>`

// Redact takes out of a text what may be secret in the URLs in it, of any scheme and spelling: names and passwords, queries,
// fragments. Of the URLs of buckets the parameters that say where the store is stay, and of Azure's the container. What is
// no address at all is left out as a whole.
func Redact(text string) string {
	if !strings.ContainsAny(text, ":%?&;") {
		return text
	}
	var b strings.Builder
	rest := text
	for {
		at := urlStart.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		if nested.MatchString(rest[at[1]:]) { // delta://https://…
			b.WriteString(rest[:at[1]])
			rest = rest[at[1]:]
			continue
		}
		end := at[1] + urlEnd(rest[at[1]:])
		b.WriteString(rest[:at[0]])
		if server, more, ok := strings.Cut(rest[at[1]:end], "&"); ok && strings.HasSuffix(rest[:at[0]], "endpoint=") && host.MatchString(server) {
			parameters := strings.TrimRight(more, closing) // of a store, which follow its endpoint
			b.WriteString(rest[at[0]:at[1]] + server + shownParameters("&"+parameters) + more[len(parameters):])
		} else {
			b.WriteString(redactURL(rest[at[0]:end], rest[at[2]:at[3]], rest[at[1]:end]))
		}
		rest = rest[end:]
	}
	b.WriteString(rest)
	return signed.ReplaceAllStringFunc(b.String(), func(s string) string {
		value := signed.FindStringSubmatch(s)[2]
		return strings.TrimSuffix(s, value) + "…" + value[len(strings.TrimRight(value, closing)):]
	})
}

// urlEnd is where a URL ends in a text: at a space, or at a quote with nothing or punctuation after it.
func urlEnd(s string) int {
	for i, r := range s {
		if unicode.IsSpace(r) {
			return i
		}
		slashes := len(s[:i]) - len(strings.TrimRight(s[:i], `\`))
		if r == '"' && slashes%2 == 0 { // else JSON's sign for a quote
			if behind := s[i+1:]; behind == "" || strings.ContainsRune(",:]})>; \t\n", rune(behind[0])) {
				return i
			}
		}
	}
	return len(s)
}

// redactURL is Redact for a URL of this scheme, and with this text after the slashes.
func redactURL(whole, scheme, rest string) string {
	bare := strings.TrimRight(rest, closing)
	tail := rest[len(bare):]
	head := strings.TrimSuffix(whole, rest)
	if strings.Contains(head, "%") {
		if plain := decoded(rest); plain != shownRest(scheme, plain) || strings.ContainsAny(plain, "?#") {
			return scheme + "://…" + tail
		}
		return whole
	}
	plain := strings.ReplaceAll(bare, `\/`, "/")
	if shown := shownRest(scheme, plain); shown != plain {
		return scheme + "://" + shown + tail
	}
	return whole
}

// decoded is text without percent-encoding, of which there may be layers; what is none stays.
func decoded(text string) string {
	for range 4 {
		text = encoded.ReplaceAllStringFunc(text, func(s string) string {
			return string([]byte{unhex(s[1])<<4 | unhex(s[2])})
		})
	}
	return text
}

var encoded = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

// shownRest returns the part of a URL after the slashes as people may see it.
func shownRest(scheme, rest string) string {
	scheme = strings.ToLower(scheme)
	bucket := slices.Contains([]string{"s3", "gs", "azblob"}, scheme)
	pattern := bucket || scheme == "file" || scheme == "delta" // whose ? may stand for a character
	path := ""
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, path = rest[:end], rest[end:]
	}
	if user, server, found := cutLast(authority, "@"); found {
		if container := strings.HasPrefix(scheme, "abfs") || strings.HasPrefix(scheme, "wasb"); !container || strings.Contains(user, ":") {
			authority = "…@" + server
		}
		if !host.MatchString(server) {
			return "…"
		}
	} else if !host.MatchString(authority) || strings.Contains(authority, ":") && (bucket || strings.Contains(path, "@")) {
		return "…"
	}
	if !pattern {
		path, _, _ = strings.Cut(path, "?")
		path, _, _ = strings.Cut(path, "#")
	}
	if at := query.FindStringIndex(path); bucket && at != nil {
		path = path[:at[0]] + shownParameters(path[at[0]:])
	}
	return authority + path
}

// shownParameters is the query of a bucket's URL with the values of what is known not to be secret.
func shownParameters(text string) string {
	var b strings.Builder
	for text != "" {
		part := text[1:]
		if end := strings.IndexAny(part, "?&"); end >= 0 {
			part = part[:end]
		}
		b.WriteByte(text[0])
		text = text[1+len(part):]
		name, value, found := strings.Cut(part, "=")
		switch {
		case part == "":
		case !found || !parameterName.MatchString(name):
			part = "…"
		case !slices.Contains([]string{"endpoint", "use_path_style", "region", "profile", "anonymous", "storage_account", "domain", "protocol"}, name) || !parameterValue.MatchString(value):
			part = name + "=…"
		default:
			part = name + "=" + Redact(value)
		}
		b.WriteString(part)
	}
	return b.String()
}

// cutLast is strings.Cut at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
