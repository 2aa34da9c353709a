package findings

import (
	"strings"
	"sync"
)

// lexicons are the words that have a part of their own in a comparison.
type lexicons struct {
	// common are words that tell no finding from another; a negation goes past them.
	common map[string]bool
	// told are words that tell none either, and that take a negation to themselves.
	told map[string]bool
	// negations deny the word after them.
	negations map[string]bool
	// meant are words by their stem.
	meant map[string]meaning
}

// meaning is what a word stands for: a word for all that mean the same, and where it
// is of a pair of opposites the name of the pair and which of the two.
type meaning struct {
	word, concept string
	negative      bool
}

const negations = "not no never without cannot neither nor none nothing nobody t hardly unless"

// commonWords are the function words of English, the nouns that every finding is
// about, and units.
const commonWords = `a an the this that these those it its he she they their them there here which who whom whose what when where while
and or but if so as than then because since although though yet for of to in on at by with from into onto out off over under
about per via is are was were be been being am do does did done has have had having can could may might must shall should will would
isn aren wasn weren don doesn didn hasn haven hadn couldn wouldn shouldn won ll ve re
only also just even still again each every any some all both other another such same own very more most one two three first
tool tools call calls called agent agents until
get gets got getting make makes made need needs needed want wants wanted
b kb kib mb mib gb gib byte bytes s ms sec secs second seconds min mins minute minutes hour hours day days token tokens percent times time`

// toldWords are those with which the kinds of findings and the sentences of the
// rules tell what sort of problem it is, which the kind has said.
const toldWords = `fail fails failed failing failure failures error errors errored work works worked working later ended change changes changed
silently silent ask asks asked went go goes old arguments large slow slowly took ways way show shows shown word read host
result results reply replies answer answers response responses says say said`

// synonyms have a line for each meaning; the first word stands for all.
const synonyms = `several multiple many
refuse reject deny decline
taken collision collide exist conflict
rename renamed
host headless
publish live
lack miss
shell script jq bash python
section sibling
root top
markup html
parse read
style class
property attribute
suffix
lose lost`

// opposites have a line for each pair: words of one side, a stroke, words of the
// other.
const opposites = `accept allow permit | refuse reject deny forbid forbidden decline disallow
large big long huge high | small short tiny low
missing lack omit absent | extra superfluous duplicate repeated surplus
before | after
visible reveal | hide hidden conceal
include | exclude
enable | disable
add create insert | delete remove drop
slow slowly | fast quick quickly
more | fewer less
min minimum | max maximum
open | close
lock | unlock
sync synchronous | async asynchronous
always | sometimes`

// lexicon returns the lists, made once.
var lexicon = sync.OnceValue(func() *lexicons {
	l := &lexicons{common: set(commonWords), told: set(toldWords), negations: set(negations), meant: map[string]meaning{}}
	for line := range strings.Lines(opposites) {
		positive, negative, _ := strings.Cut(line, "|")
		l.side(strings.Fields(positive), strings.Fields(positive)[0], false)
		l.side(strings.Fields(negative), strings.Fields(positive)[0], true)
	}
	for line := range strings.Lines(synonyms) {
		list := strings.Fields(line)
		for _, w := range list {
			m := l.meant[stem(w)]
			m.word = list[0]
			l.meant[stem(w)] = m
		}
	}
	return l
})

// side takes in the words of one side of a pair; its first word stands for all.
func (l *lexicons) side(list []string, concept string, negative bool) {
	for _, w := range list {
		l.meant[stem(w)] = meaning{word: list[0], concept: concept, negative: negative}
	}
}

func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}
