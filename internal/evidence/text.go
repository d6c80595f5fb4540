package evidence

import (
	"strings"
	"unicode/utf8"
)

// Parquet strings are UTF-8 and readers refuse anything else, but a key or a
// server's error text may hold any bytes, and two keys must never become one.
// So a byte that is not UTF-8 stands in the file as one rune of the last 256 of
// the Unicode range (private use), and those runes themselves as their bytes.
const byteRunes = utf8.MaxRune - 0xFF

// escape returns text as UTF-8; ordinary text is returned as it is.
func escape(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isByteRune) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if isByteRune(r) || r == utf8.RuneError && size == 1 {
			for _, b := range []byte(text[i : i+size]) {
				out.WriteRune(byteRunes + rune(b))
			}
		} else {
			out.WriteString(text[i : i+size])
		}
		i += size
	}
	return out.String()
}

// unescape is the inverse of [escape].
func unescape(text string) string {
	if !strings.ContainsFunc(text, isByteRune) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if isByteRune(r) {
			out.WriteByte(byte(r - byteRunes))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func isByteRune(r rune) bool { return r >= byteRunes }
