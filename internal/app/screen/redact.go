package screen

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ufs-stream/ufs-stream/internal/convert"
)

const urlStartPattern = `(?i:([a-z][a-z0-9+.-]*)(?::|%(?:25)*3a)(?:\\*/|%(?:25)*2f){2})`

var (
	// urlStart matches the start of a URL of any scheme, in plain text, in JSON, or percent-encoded once or several times.
	urlStart  = convert.CompilePattern(urlStartPattern)
	nestedURL = convert.CompilePattern(`^` + urlStartPattern)
	// secretParameter matches parameters that are always secret, even in a text that does not look like a URL.
	secretParameter = convert.CompilePattern(`(?i)((?:[?&;]|\\u0026|%(?:25)*26|%(?:25)*3f)(?:sig|signature|x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)|` +
		`awsaccesskeyid|googleaccessid|key-pair-id|policy|sas|token|[a-z]+[_-]token|secret|password|passwd|pwd|api[_-]?key|accountkey|sharedaccesssignature)` +
		`(?:=|%(?:25)*3d))((?:[^&\s"\\]|\\[^"\s])+)`)
	// hostPattern matches the host of a URL, with or without a port. The port may be the word PORT, as in help texts.
	hostPattern = convert.CompilePattern(`^(?:\[[0-9A-Fa-f:.%]*\]|[^:\[\]@\\"]*)(?::(?:[0-9]*|PORT))?$`)
	// queryStart matches the start of the parameters of a bucket's URL. Another ? is part of the key.
	queryStart = convert.CompilePattern(`\?[A-Za-z][A-Za-z0-9_.-]*=`)
	// parameterName matches names of parameters that may be shown, because they cannot be secrets.
	parameterName = convert.CompilePattern(`^[A-Za-z][A-Za-z0-9_.-]{0,40}$`)
	// parameterValue matches values of a store's known parameters that may be shown.
	parameterValue = convert.CompilePattern(`^[A-Za-z0-9_.:/\[\]%~-]*$`)
)

// closingCharacters are characters that may follow a URL in a text without being a part of it.
const closingCharacters = `"'\:;,.!?)]}>`

// Redact removes possible secrets from the URLs in a text: user names, passwords, queries and fragments. URLs may have
// any scheme, and may be percent-encoded. Parameters of bucket URLs that locate the store remain, and so does the name
// of Azure's container. An invalid address is removed as a whole.
func Redact(text string) string {
	if !strings.ContainsAny(text, ":%?&;") {
		return text
	}
	var b strings.Builder
	rest := text
	for {
		at := urlStart().FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		if nestedURL().MatchString(rest[at[1]:]) { // delta://https://…
			b.WriteString(rest[:at[1]])
			rest = rest[at[1]:]
			continue
		}
		end := at[1] + urlEnd(rest[at[1]:])
		b.WriteString(rest[:at[0]])
		if server, more, ok := strings.Cut(rest[at[1]:end], "&"); ok && strings.HasSuffix(rest[:at[0]], "endpoint=") && hostPattern().MatchString(server) {
			parameters := strings.TrimRight(more, closingCharacters) // parameters of the bucket follow its endpoint
			b.WriteString(rest[at[0]:at[1]] + server + redactParameters("&"+parameters) + more[len(parameters):])
		} else {
			b.WriteString(redactURL(rest[at[0]:end], rest[at[2]:at[3]], rest[at[1]:end]))
		}
		rest = rest[end:]
	}
	b.WriteString(rest)
	return secretParameter().ReplaceAllStringFunc(b.String(), func(s string) string {
		value := secretParameter().FindStringSubmatch(s)[2]
		return strings.TrimSuffix(s, value) + "…" + value[len(strings.TrimRight(value, closingCharacters)):]
	})
}

// urlEnd returns the index at which a URL at the start of s ends: at a space, or at a quote that punctuation or the end
// of the text follows.
func urlEnd(s string) int {
	for i, r := range s {
		if unicode.IsSpace(r) {
			return i
		}
		slashes := len(s[:i]) - len(strings.TrimRight(s[:i], `\`))
		if r == '"' && slashes%2 == 0 { // otherwise the quote is an escaped quote of JSON
			if after := s[i+1:]; after == "" || strings.ContainsRune(",:]})>; \t\n", rune(after[0])) {
				return i
			}
		}
	}
	return len(s)
}

// redactURL removes the secrets from a URL with the given scheme. `whole` is the URL, and `rest` is its text after ://.
func redactURL(whole, scheme, rest string) string {
	bare := strings.TrimRight(rest, closingCharacters)
	tail := rest[len(bare):]
	head := strings.TrimSuffix(whole, rest)
	if strings.Contains(head, "%") {
		if plain := decodePercent(rest); plain != redactAfterScheme(scheme, plain) || strings.ContainsAny(plain, "?#") {
			return scheme + "://…" + tail
		}
		return whole
	}
	plain := strings.ReplaceAll(bare, `\/`, "/")
	if shown := redactAfterScheme(scheme, plain); shown != plain {
		return scheme + "://" + shown + tail
	}
	return whole
}

func decodePercent(text string) string {
	for range 4 {
		text = percentCode().ReplaceAllStringFunc(text, func(s string) string {
			return string([]byte{hexDigitValue(s[1])<<4 | hexDigitValue(s[2])})
		})
	}
	return text
}

var percentCode = convert.CompilePattern(`%[0-9A-Fa-f]{2}`)

func hexDigitValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

func redactAfterScheme(scheme, rest string) string {
	scheme = strings.ToLower(scheme)
	bucket := slices.Contains([]string{"s3", "gs", "azblob"}, scheme)
	pattern := bucket || scheme == "file" || scheme == "delta" // schemes in whose URLs ? may represent a character
	path := ""
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, path = rest[:end], rest[end:]
	}
	if user, server, found := cutLast(authority, "@"); found {
		if container := strings.HasPrefix(scheme, "abfs") || strings.HasPrefix(scheme, "wasb"); !container || strings.Contains(user, ":") {
			authority = "…@" + server
		}
		if !hostPattern().MatchString(server) {
			return "…"
		}
	} else if !hostPattern().MatchString(authority) || strings.Contains(authority, ":") && (bucket || strings.Contains(path, "@")) {
		return "…"
	}
	if !pattern {
		path, _, _ = strings.Cut(path, "?")
		path, _, _ = strings.Cut(path, "#")
	}
	if at := queryStart().FindStringIndex(path); bucket && at != nil {
		path = path[:at[0]] + redactParameters(path[at[0]:])
	}
	return authority + path
}

// redactParameters removes the values of all parameters in the query of a bucket's URL that are not known to be public.
func redactParameters(text string) string {
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
		case !found || !parameterName().MatchString(name):
			part = "…"
		case !slices.Contains([]string{"endpoint", "use_path_style", "region", "profile", "anonymous", "storage_account", "domain", "protocol"}, name) || !parameterValue().MatchString(value):
			part = name + "=…"
		default:
			part = name + "=" + Redact(value)
		}
		b.WriteString(part)
	}
	return b.String()
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
