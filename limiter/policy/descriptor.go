package policy

import "strings"

// descriptorOf returns the entries that a rate limit service finds the limits of
// a request by.
func (r *Rule) descriptorOf(v *view, g *Global) ([][2]string, error) {
	parts, err := r.explainKey(v)
	if err != nil {
		return nil, err
	}
	var list [][2]string
	for _, e := range r.global.descriptor {
		value := e.value
		if e.part >= 0 {
			value = g.value(parts[e.part])
		}
		list = append(list, [2]string{e.name, value})
	}
	return list, nil
}

// maxPlain is how long a value may be that is sent as it is.
const maxPlain = 128

// value writes a part of a key so that no two of different values look alike,
// not even to a service that joins what it is sent by underscores: a secret, and
// whatever has other than letters, digits and .:/@+=~- in it, is a # and a hash.
// So no value begins with a #, and what stands in for a missing one does.
func (g *Global) value(p KeyPart) string {
	switch {
	case p.Missing && p.Value == "":
		return "#missing"
	case p.Missing:
		return "#" + g.value(KeyPart{Value: p.Value})
	case !p.Secret && len(p.Value) <= maxPlain && !strings.ContainsFunc(p.Value, notPlain):
		return p.Value
	}
	return "#" + g.key([]byte(p.Value)).String()
}

func notPlain(c rune) bool {
	return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(".:/@+=~-", c))
}
