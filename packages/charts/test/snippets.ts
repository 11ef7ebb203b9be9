import { helmFunctions } from '../src/functions/index.ts';
import { builtins } from '../src/template/builtins.ts';

/** Template snippets that Helm and we must agree on: every function with every kind of argument, and every rule of the language. */
export interface Snippet {
  readonly template: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

export const sampleValues = {
  int: 3,
  float: 2.5,
  big: 1_000_000,
  neg: -7,
  zero: 0,
  str: 'hello World',
  empty: '',
  num: '42',
  yes: true,
  no: false,
  nil: null,
  list: ['b', 'a', 3, null, 'a'],
  words: ['one', 'two', 'three'],
  none: [],
  map: { b: 1, a: 'x', n: null, m: { deep: 'y' } },
  nothing: {},
  uni: 'grüße 😀 – ok',
  multi: 'line one\nline two\n\n  indented\n',
  quote: `it's "quoted" \\ and: more # not`,
  version: '1.20.4-beta.1+build',
  url: 'https://user:pa%20ss@example.com:8080/a/b?x=1&y=2#frag',
} as const;

const arguments_: Readonly<Record<string, string>> = {
  nil: 'nil',
  missing: '.Values.nope',
  int: '7',
  float: '2.5',
  value: '.Values.int',
  string: '"text-ONE two"',
  digits: '"42"',
  bool: 'true',
  list: '(list "b" "a" 3)',
  strings: '(splitList "," "x,y,x")',
  map: '(dict "a" 1 "b" (dict "c" nil))',
};

/** Functions whose answer depends on nothing but their arguments, by how many of them are fixed. */
export const unary =
  'trim upper lower title untitle nospace initials swapcase snakecase camelcase kebabcase quote squote toString toStrings sortAlpha b64enc b64dec b32enc b32dec sha1sum sha256sum sha512sum adler32sum toYaml mustToYaml toYamlPretty toJson mustToJson toPrettyJson toRawJson mustToRawJson fromYaml fromYamlArray fromJson fromJsonArray mustFromJson toToml atoi int64 int float64 toDecimal seq until add1 ceil floor first last rest initial reverse uniq compact mustFirst mustLast mustRest keys values empty typeOf kindOf deepCopy base dir clean ext isAbs osBase osDir regexQuoteMeta semver urlParse urlJoin len not html js urlquery print println duration durationRound durationSeconds durationHours durationDays mustToDuration list dict coalesce all any cat concat default fail hello tuple max min add mul unixEpoch index';
export const binary =
  'trunc repeat trimAll trimSuffix trimPrefix contains hasPrefix hasSuffix indent nindent splitList split join append prepend push without has get hasKey unset pluck pick omit merge mergeOverwrite eq ne lt le gt ge and or printf sub div mod default ternary typeIs kindIs typeIsLike deepEqual regexMatch mustRegexMatch regexFind semverCompare abbrev wrap chunk add mul max min addf subf divf mulf maxf minf index slice dig toDate durationRoundTo durationTruncateTo required concat coalesce round until untilStep mustAppend mustPush mustPrepend mustWithout mustHas mustChunk mustMerge mustMergeOverwrite mustRegexFind mustSlice trimall biggest mustToDate';
export const ternary =
  'replace substr splitn regexReplaceAll regexReplaceAllLiteral regexFindAll regexSplit set wrapWith abbrevboth plural ternary dig untilStep seq dict slice mustRegexReplaceAll mustRegexReplaceAllLiteral mustRegexFindAll mustRegexSplit mustSlice';
/** Functions whose answers come from chance or from the clock: only what they are can be compared. */
const unforeseeable =
  'randAlphaNum randAlpha randAscii randNumeric randInt randBytes shuffle uuidv4 now ago date date_in_zone dateInZone htmlDate htmlDateInZone date_modify dateModify must_date_modify mustDateModify unixEpoch bcrypt htpasswd encryptAES genPrivateKey genCA genCAWithKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey buildCustomCert';

/** Everything a template can call. */
export const everyFunction = [...new Set([...builtins.keys(), ...helmFunctions.keys()])];

function names(text: string): string[] {
  return [...new Set(text.split(' '))];
}

/** The call, or where nobody can foresee its answer what kind of answer that is. */
function comparable(call: string): string {
  const name = call.split(' ')[0]!;
  // It answers what is wrong with a text in the words of a library.
  if (name === 'fromToml') return `hasKey (${call}) "Error"`;
  return names(unforeseeable).includes(name) ? `typeOf (${call})` : call;
}

function functionSnippets(): Snippet[] {
  const all = Object.values(arguments_);
  const some = ['.Values.nope', '2', '2.5', '"a"', '(list "b" "a")', '(dict "a" 1)'];
  const few = ['2', '"a"', '"a-b-a"', '(dict "a" (dict "b" 2))'];
  const calls: string[] = [];
  for (const name of new Set([...names(unary), ...everyFunction])) {
    calls.push(`${name}`);
    // Go shows keys and values in no order at all.
    const unordered = name === 'keys' || name === 'values';
    for (const arg of all) if (!unordered || arg !== arguments_['map']) calls.push(`${name} ${arg}`);
    for (const arg of ['.Values.str', '.Values.list', unordered ? '.Values.map.m' : '.Values.map'])
      calls.push(comparable(name) === name ? `${arg} | ${name}` : `${name} ${arg}`);
  }
  for (const name of names(binary)) for (const a of some) for (const b of some) calls.push(`${name} ${a} ${b}`);
  for (const name of names(
    'ago date htmlDate date_modify dateModify must_date_modify mustDateModify randInt htpasswd encryptAES genCA',
  ))
    for (const a of ['2', '"a"', '"1h"', '(list 1)', 'now'])
      for (const b of ['0', '"a"', 'now', 'nil']) calls.push(`${name} ${a} ${b}`);
  for (const name of names(ternary))
    for (const a of few) for (const b of few) for (const c of few) calls.push(`${name} ${a} ${b} ${c}`);
  return calls.map((call) => ({ template: `{{ ${comparable(call)} }}` }));
}

const language = String.raw`
{{ .Values.int }}|{{ .Values.float }}|{{ .Values.big }}|{{ .Values.nil }}|{{ .Values.nope }}
{{ .Values.nope.deeper }}
{{ (.Values.nope).deeper }}
{{ ((.Values.nope).deeper).more }}
{{ .Values.str.deeper }}
{{ .Values.list.deeper }}
{{ .Values.map.m.deep }} {{ .Values.map.b }} {{ .Values.map }}
{{ .Values }}
{{ .nope }} {{ .nope.x }}
{{- "trim" -}}   x
a {{- /* comment */ -}} b
a {{/* comment */}} b
{{-3}}
{{- -3}}
{{ - 3 }}
{{ 3 -}} x
{{ 1_000 }} {{ 0x1F }} {{ 0o17 }} {{ 017 }} {{ 0b101 }} {{ 1e3 }} {{ 0x1p4 }} {{ .5 }} {{ 1. }}
{{ 'a' }} {{ '\n' }} {{ '\x41' }} {{ 'é' }}
{{ "esc\t\"\\\u00e9\x41\101" }} {{ ${'`'}raw\n${'`'} }}
{{ 99999999999999999999 }}
{{ 9223372036854775808 }}
{{ 9223372036854775807 }}
{{ nil }}
{{ true }} {{ false }}
{{ true | not }}
{{ . | printf "%T" }}
{{ if .Values.yes }}a{{ else }}b{{ end }}
{{ if .Values.no }}a{{ else if .Values.yes }}c{{ else }}b{{ end }}
{{ if .Values.empty }}a{{ end }}{{ if .Values.none }}b{{ end }}{{ if .Values.nothing }}c{{ end }}{{ if .Values.zero }}d{{ end }}{{ if .Values.nil }}e{{ end }}
{{ with .Values.map }}{{ .a }}{{ end }}
{{ with .Values.nope }}x{{ else }}none{{ end }}
{{ with .Values.nope }}x{{ else with .Values.str }}{{ . }}{{ end }}
{{ with $x := .Values.str }}{{ $x }}{{ . }}{{ end }}
{{ range .Values.words }}{{ . }},{{ end }}
{{ range $i, $w := .Values.words }}{{ $i }}={{ $w }},{{ end }}
{{ range $k, $v := .Values.map }}{{ $k }}={{ $v }},{{ end }}
{{ range $v := .Values.map }}{{ $v }},{{ end }}
{{ range .Values.none }}x{{ else }}empty{{ end }}
{{ range .Values.nope }}x{{ else }}empty{{ end }}
{{ range .Values.nil }}x{{ else }}empty{{ end }}
{{ range .Values.str }}x{{ end }}
{{ range 3 }}{{ . }}{{ end }}
{{ range $i := 3 }}{{ $i }}{{ end }}
{{ range $i, $j := 3 }}{{ $i }}{{ end }}
{{ range .Values.int }}{{ . }}{{ end }}
{{ range 0 }}x{{ else }}none{{ end }}
{{ range int64 2 }}{{ . }}{{ typeOf . }}{{ end }}
{{ range .Values.list }}{{ . }};{{ end }}
{{ range .Values.list }}{{ .x }}{{ end }}
{{ range .Values.words }}{{ .x }}{{ end }}
{{ range splitList "," "a,b" }}{{ .x }}{{ end }}
{{ range .Values.words }}{{ if eq . "two" }}{{ break }}{{ end }}{{ . }}{{ end }}
{{ range .Values.words }}{{ if eq . "two" }}{{ continue }}{{ end }}{{ . }}{{ end }}
{{ break }}
{{ range .Values.words }}{{ with . }}{{ if eq . "two" }}{{ break }}{{ end }}{{ end }}{{ . }}{{ end }}
{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}
{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}
{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}
{{ $x = 2 }}
{{ $x := .Values.nope }}{{ $x }}{{ $x.y }}{{ $x.y.z }}
{{ $x := .Values.map }}{{ $x.a }}{{ $x.zz }}{{ $x.zz.y }}
{{ $x, $y := .Values.map }}
{{ range $a, $b, $c := .Values.map }}{{ end }}
{{ $x := 0 }}{{ range $x = .Values.words }}{{ end }}{{ $x }}
{{ $x := "keep" }}{{ range $x = .Values.none }}{{ end }}{{ $x }}
{{ define "t" }}[{{ . }}]{{ end }}{{ template "t" .Values.str }}{{ template "t" }}{{ include "t" 5 }}
{{ define "t" }}{{ .x }}{{ end }}{{ template "t" }}
{{ define "t" }}{{ . }}{{ end }}{{ template "t" nil }}
{{ block "b" .Values.str }}<{{ . }}>{{ end }}
{{ template "nope" . }}
{{ include "nope" . }}
{{ include "h" . | trunc 4 }}{{ include "h" "x" }}
{{ include "loop" . }}
{{ define "a" }}1{{ end }}{{ define "a" }}2{{ end }}
{{ define "a" }}1{{ end }}{{ define "a" }} {{ end }}{{ include "a" . }}
{{ define "self" }}{{ template "self" . }}{{ end }}ok
{{ "a" | upper | printf "%s-%s" "b" }}
{{ "a" "b" }}
{{ 1 | 2 }}
{{ .Values.str | 3 }}
{{ (add 1 2) }}
{{ (dict "a" (dict "b" 5)).a.b }}
{{ (list 1 2).x }}
{{ (printf "%d" 3) | quote }}
{{ print (1) (2) }}
{{ .Values.str .Values.int }}
{{ .Values.int 3 }}
{{ index .Values.list 1 }} {{ index .Values.map "m" "deep" }} {{ index .Values.map "zzz" }} {{ index "abc" 1 }}
{{ index .Values.list 99 }}
{{ index .Values.list 5 }}
{{ index .Values.list "x" }}
{{ index .Values.map 1 }}
{{ index .Values.nope "a" }}
{{ index .Values.nil "a" }}
{{ index .Values.int 0 }}
{{ index .Values.list .Values.int }}
{{ index .Values.list (int .Values.int) }}
{{ len .Values.uni }} {{ len .Values.list }} {{ len .Values.map }}
{{ len .Values.nil }}
{{ len .Values.int }}
{{ len nil }}
{{ and }} {{ or }}
{{ and 1 0 2 }}|{{ or 0 "" "x" }}|{{ and true .Values.nope }}|{{ or .Values.nope .Values.nil "d" }}|{{ and .Values.nope (fail "no") }}
{{ or true (fail "no") }}{{ and false (fail "no") }}
{{ 0 | or 1 }} {{ 5 | and 1 }} {{ .Values.nope | or }}
{{ not }}
{{ eq 1 1 }} {{ eq 1 2 1 }} {{ eq "a" "a" }} {{ eq true true }} {{ eq 1.5 1.5 }}
{{ eq 1 1.0 }}
{{ eq .Values.int 3 }}
{{ eq (int .Values.int) 3 }}
{{ eq (int64 3) 3 }}
{{ eq .Values.nil nil }}
{{ eq .Values.nope "x" }} {{ eq "x" .Values.nope }} {{ ne .Values.nope "x" }} {{ eq .Values.nope .Values.nil }}
{{ eq .Values.list .Values.list }}
{{ eq .Values.map .Values.map }}
{{ eq .Values.map 3 }}
{{ eq }}
{{ eq 1 }}
{{ lt 1 2 }} {{ le 2 2 }} {{ gt 3 2 }} {{ ge 2 2 }} {{ lt "a" "b" }} {{ lt 1.5 2.5 }}
{{ lt 1 2.5 }}
{{ lt true false }}
{{ lt .Values.nil 1 }}
{{ lt .Values.float 3.0 }}
{{ printf "%d %s %v %q %5d|%-5d|%05d %x %X %o %b %c %U %t" 3 "s" .Values.map "q" 42 42 42 255 255 8 5 65 65 true }}
{{ printf "%f %.2f %e %g %8.3f|%-8.1f|%+d %+.1f" 1.5 2.345 1500.5 0.00001 3.14159 2.5 5 2.5 }}
{{ printf "%d" "x" }} {{ printf "%s" 3 }} {{ printf "%d" 2.5 }} {{ printf "%s" nil }} {{ printf "%d" .Values.int }}
{{ printf "%s %s" "a" }} {{ printf "%s" "a" "b" }} {{ printf "%" }} {{ printf "%z" 1 }} {{ printf "%!" }} {{ printf "%%" }}
{{ printf "%[2]d %[1]d" 1 2 }} {{ printf "%[3]d" 1 }} {{ printf "%*d" 5 1 }} {{ printf "%.*f" 2 1.2345 }}
{{ printf "%v %+v %#v %T" .Values.list .Values.list .Values.list .Values.list }}
{{ printf "%v %#v %T" .Values.map .Values.map .Values.map }}
{{ printf "%v %#v %T" "s" "s" "s" }} {{ printf "%#v %#v %#v %#v" 1 1.5 true nil }}
{{ printf "%s %q %v" (list "a" 1) (list "a" "b") (list nil) }}
{{ printf "%x %X % x %#x" "hello" "hello" "hello" "hello" }}
{{ printf "%6.2f|%-10s|%10s|%.2s" 3.14159 "ab" "cd" "efgh" }}
{{ printf "%t" 1 }} {{ printf "%c" "x" }} {{ printf "%q" 65 }} {{ printf "%U" 128512 }} {{ printf "%#U" 128512 }}
{{ printf "%v %v %v %v" 1e6 1e20 1e21 123456789.0 }} {{ printf "%v %v" 0.0001 0.00001 }}
{{ printf "%g %G %e %E" 1e6 1e-7 1.0 1e100 }} {{ printf "%.0f %.0f %.0f" 0.5 1.5 2.5 }}
{{ printf "%08.3f|%+08.3f|% d|%+q" 3.14159 3.14159 5 "é" }} {{ printf "%O %#o %#b %#x" 8 8 5 255 }}
{{ printf 3 }}
{{ printf }}
{{ print 1 2 "a" "b" 3 4 nil .Values.nil }} {{ println 1 "a" }}
{{ print .Values.list .Values.map }}
{{ html "<a href='x'>\"&" }} {{ js "it's <b> \"q\" = & \n é" }} {{ urlquery "a b&c=d/é" }}
{{ typeOf .Values.int }} {{ typeOf 1 }} {{ typeOf 1.5 }} {{ typeOf "s" }} {{ typeOf .Values.list }} {{ typeOf .Values.map }} {{ typeOf nil }} {{ typeOf .Values.nope }} {{ typeOf (list) }} {{ typeOf (until 2) }} {{ typeOf (splitList "," "a") }} {{ typeOf (split "," "a") }} {{ typeOf (int64 1) }} {{ typeOf (add 1 2) }} {{ typeOf (semver "1.2.3") }} {{ typeOf now }} {{ typeOf .Values }} {{ typeOf .Chart }} {{ typeOf .Release }} {{ typeOf .Files }} {{ typeOf .Capabilities }}
{{ kindOf .Values.int }} {{ kindOf 1 }} {{ kindOf nil }} {{ kindOf .Values.list }} {{ kindOf .Values.map }} {{ kindOf (semver "1.2.3") }} {{ kindOf now }} {{ kindOf .Files }} {{ kindOf .Capabilities }} {{ kindOf true }}
{{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.AppVersion }} {{ .Chart.nope }} {{ .Release.Name }} {{ .Release.IsInstall }} {{ .Release.Revision }} {{ .Release.Service }} {{ .Template.Name }} {{ .Template.BasePath }}
{{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.KubeVersion.GitVersion }} {{ .Capabilities.KubeVersion.Major }}.{{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.APIVersions.Has "apps/v1" }} {{ .Capabilities.APIVersions.Has "x/v1" }} {{ len .Capabilities.APIVersions }}
{{ .Capabilities.nope }}
{{ .Capabilities.KubeVersion.nope }}
{{ .Capabilities.APIVersions.Has }}
{{ .Capabilities.APIVersions | has "apps/v1" }}
{{ range .Capabilities.APIVersions }}{{ . }} {{ end }}
{{ .Files.Get "conf/a.txt" }}|{{ .Files.Get "nope" }}|{{ .Files.Lines "conf/a.txt" }}|{{ (.Files.Glob "conf/*").AsConfig }}|{{ (.Files.Glob "**.json").AsSecrets }}|{{ .Files.GetBytes "conf/b.json" }}
{{ range $p, $_ := .Files.Glob "conf/*" }}{{ $p }};{{ end }}{{ range $p, $c := .Files }}{{ $p }}={{ printf "%s" $c }};{{ end }}
{{ .Files.Get }}
{{ tpl "{{ .Values.str }}" . }} {{ tpl "plain" . }} {{ tpl "{{ .x }}" (dict "x" 1) }} {{ tpl "{{ .x.y }}" (dict) }}
{{ tpl "{{ define \"in\" }}I{{ end }}{{ include \"in\" . }}" . }}{{ include "in" . }}
{{ tpl "{{ nope }}" . }}
{{ tpl "{{ include \"h\" 1 }} {{ .nope }}" . }}
{{ required "need it" .Values.nope }}
{{ required "need it" "" }}
{{ required "need it" 0 }}{{ required "need it" false }}{{ required "x" "v" }}
{{ fail "because" }}
{{ lookup "v1" "Pod" "ns" "name" }}|{{ (lookup "v1" "Pod" "ns" "name").metadata }}|{{ len (lookup "v1" "Pod" "" "") }}
{{ getHostByName "localhost" }}
{{ default "d" .Values.nope }} {{ default "d" .Values.zero }} {{ default "d" .Values.no }} {{ default "d" "" }} {{ default "d" .Values.none }} {{ default 1 2 }} {{ .Values.str | default "x" }} {{ default "x" }}
{{ dict "a" }} {{ dict 1 2 }} {{ dict "a" 1 "a" 2 }}
{{ $d := dict "a" 1 }}{{ $_ := set $d "b" 2 }}{{ $d }}{{ $_ := unset $d "a" }}{{ $d }}{{ hasKey $d "b" }}{{ get $d "b" }}{{ get $d "zz" }}|
{{ $d := dict "a" (dict "b" 1) }}{{ $e := deepCopy $d }}{{ $_ := set $e.a "b" 2 }}{{ $d }}{{ $e }}
{{ merge (dict "a" 1 "n" (dict "x" 1)) (dict "a" 2 "b" 3 "n" (dict "x" 5 "y" 2)) }}
{{ merge (dict "a" false "b" 0 "c" "" "d" nil) (dict "a" true "b" 5 "c" "x" "d" 1 "e" nil) }}
{{ mergeOverwrite (dict "a" 1 "n" (dict "x" 1)) (dict "a" nil "n" (dict "x" "" "y" nil) "z" false) }}
{{ mergeOverwrite (dict "a" "s") (dict "a" (dict "x" 1)) }} {{ mergeOverwrite (dict "a" (dict "x" 1)) (dict "a" "s") }}
{{ merge (dict "l" (list 1)) (dict "l" (list 2 3)) }} {{ mergeOverwrite (dict "l" (list 1)) (dict "l" (list 2 3)) }} {{ merge (dict "l" (list)) (dict "l" (list 2)) }} {{ merge (dict) (dict "l" (list 2)) }} {{ mergeOverwrite (dict "l" (list 1)) (dict "l" (list)) }}
{{ merge (dict "a" (dict)) (dict "a" (dict "b" 1)) }} {{ merge (dict "a" 1) (dict "a" (dict "b" 1)) }}
{{ dig "m" "deep" "def" .Values.map }} {{ dig "m" "zz" "def" .Values.map }} {{ dig "zz" "x" "def" .Values.map }}
{{ dig "a" "x" "def" .Values.map }}
{{ dig "n" "x" "def" .Values.map }}
{{ pluck "a" (dict "a" 1) (dict "b" 2) (dict "a" 3) }} {{ pick (dict "a" 1 "b" 2) "a" "z" }} {{ omit (dict "a" 1 "b" 2) "a" }} {{ keys (dict "b" 1) }} {{ values (dict "b" 1) }}
{{ first .Values.list }} {{ last .Values.list }} {{ rest .Values.list }} {{ initial .Values.list }} {{ reverse .Values.list }} {{ uniq .Values.list }} {{ compact .Values.list }} {{ without .Values.list "a" }} {{ has "a" .Values.list }} {{ has 3 .Values.list }} {{ slice .Values.list 1 3 }} {{ concat .Values.list (list 1) }} {{ chunk 2 .Values.list }} {{ append .Values.list 9 }} {{ prepend .Values.list 9 }} {{ sortAlpha .Values.list }} {{ join "-" .Values.list }}
{{ slice .Values.str 1 3 }}
{{ slice .Values.words 5 }}
{{ until 5 }} {{ untilStep 1 10 3 }} {{ untilStep 5 1 -2 }} {{ untilStep 1 5 0 }} {{ seq 5 }} {{ seq -3 }} {{ seq 2 5 }} {{ seq 1 2 9 }} {{ seq 5 -2 1 }} {{ seq }} {{ seq 1 2 3 4 }}
{{ add 1 2.7 "3" true }} {{ sub 5 "2" }} {{ div 7 2 }} {{ mod -7 3 }} {{ mul 2 3 "4" }} {{ max 1 5 3 }} {{ min 4 2 }} {{ add1 "9" }} {{ add "x" 1 }} {{ add "0x10" "010" "1.0" "1.5" }}
{{ div 1 0 }}
{{ mod 1 0 }}
{{ addf 0.1 0.2 }} {{ subf 1 0.9 }} {{ mulf 1.1 1.1 }} {{ divf 1 3 }} {{ divf 10 4 2 }} {{ add1f 1.5 }} {{ maxf 1.5 2 }} {{ minf 1.5 "1.2" }} {{ ceil 1.2 }} {{ floor -1.2 }} {{ round 123.456 2 }} {{ round 2.5 0 }} {{ round 1.4 0 0.3 }}
{{ divf 1 0 }}
{{ int "12abc" }} {{ int 3.9 }} {{ int -3.9 }} {{ int "3.0" }} {{ int64 1e18 }} {{ float64 "1.5e3" }} {{ atoi "-5" }} {{ atoi "x" }} {{ toDecimal "0777" }} {{ toDecimal 644 }} {{ int nil }} {{ int 1e30 }}
{{ trunc 3 .Values.uni }}|{{ trunc -3 "hello" }}|{{ trunc 99 "x" }}|{{ abbrev 8 "hello world foo" }}|{{ abbrevboth 5 10 "1234 5678 9123 4567" }}|{{ substr 1 4 "hello" }}|{{ substr -1 3 "hello" }}|{{ substr 2 -1 "hello" }}
{{ substr 4 2 "hello" }}
{{ repeat 3 "ab" }} {{ replace "l" "L" "hello" }} {{ replace "" "-" "abc" }} {{ trimAll "$" "$5$" }} {{ trimSuffix "o" "hello" }} {{ trimPrefix "h" "hello" }} {{ title "hello wORLD-foo bar_baz" }} {{ untitle "Hello World" }} {{ initials "First Try here" }} {{ swapcase "Hello World" }} {{ nospace " a b  c " }} {{ plural "one" "many" 1 }} {{ plural "one" "many" 2 }} {{ cat "a" 1 nil true }} {{ wrap 5 "hello big world" }} {{ wrapWith 5 "|" "helloworld big" }}
{{ repeat -1 "x" }}
{{ snakecase "FirstName HTTPServer2xx a1B2 Bld4Floor" }} {{ kebabcase "FirstName HTTPServer someXMLDoc" }} {{ camelcase "http_server some-thing __x _a" }} {{ snakecase "No CAPS-here_now" }} {{ kebabcase "a b" }} {{ camelcase "HTTP_SERVER" }}
{{ quote "a\"b\n" 1 nil .Values.list }} {{ squote "a'b" 1 nil }} {{ quote .Values.uni }} {{ quote }}
{{ indent 2 "a\nb\n" }} {{ nindent 2 "a\nb" }} {{ indent 0 "x" }}
{{ indent -1 "x" }}
{{ split "," "a,b,c" }} {{ (split "," "a,b")._1 }} {{ (split "," "a,b")._9 }} {{ splitn "," 2 "a,b,c" }} {{ splitList "" "abc" }} {{ splitList "," "" }}
{{ merge (split "," "a") (dict) }}
{{ upper "straße é" }} {{ lower "ÀÉ" }} {{ title "éa ßb" }}
{{ regexMatch "^h.*d$" "hello world" }} {{ regexMatch "(" "x" }} {{ regexFind "[a-z]+" "123abc456" }} {{ regexFindAll "[2468]" "1234567" -1 }} {{ regexFindAll "a" "aaa" 2 }} {{ regexReplaceAll "a(x*)b" "-ab-axxb-" "$${'{'}1}W" }} {{ regexReplaceAll "a(x*)b" "-ab-axxb-" "$1W" }} {{ regexReplaceAllLiteral "a(x*)b" "-ab-axxb-" "$${'{'}1}" }} {{ regexSplit "z+" "pizza" -1 }} {{ regexSplit "" "abc" -1 }} {{ regexQuoteMeta "1.2*3" }} {{ regexReplaceAll "(?P<first>\\w+) (?P<second>\\w+)" "hello world" "$${'{'}second} $${'{'}first}" }}
{{ regexFind "(?=x)" "x" }}
{{ regexReplaceAll "(?i)HELLO" "Hello hello" "x" }} {{ regexMatch "\\d{3}" "abc123" }} {{ regexReplaceAll "[^a-z]" "a1b2" "" }} {{ regexReplaceAll "" "abc" "-" }} {{ regexReplaceAll "b*" "abc" "-" }} {{ regexFindAll "" "ab" -1 }}
{{ mustRegexMatch "(" "x" }}
{{ regexMatch "[[:alpha:]]+" "abc" }} {{ regexReplaceAll "\\s+$" "x  " "" }} {{ regexReplaceAll "(a)|(b)" "ab" "[$1$2]" }} {{ regexReplaceAll "." "é" "$0$0" }}
{{ semverCompare ">=1.20-0" "1.20.4-beta.1" }} {{ semverCompare ">=1.20" "1.20.4-beta.1" }} {{ semverCompare "^1.2" "1.9.9" }} {{ semverCompare "~1.2" "1.3.0" }} {{ semverCompare "1.x" "1.5" }} {{ semverCompare ">1.2" "1.2.5" }} {{ semverCompare ">1.2 <1.5 || 2.0.0" "2.0.0" }} {{ semverCompare "1.2 - 1.4" "1.4.9" }} {{ semverCompare "!=1.2" "1.2.3" }} {{ semverCompare "*" "3.0.0" }} {{ semverCompare "" "3.0.0" }} {{ semverCompare "=1.2" "v1.2.9" }} {{ semverCompare "<=1.2" "1.2.9" }} {{ semverCompare "^0.2.3" "0.3.0" }} {{ semverCompare "^0.0.3" "0.0.4" }} {{ semverCompare ">= 1.19.0-0" "v1.37.0" }} {{ semverCompare "~0" "0.5.0" }} {{ semverCompare ">=1.2.3-alpha, <2" "2.0.0-beta" }}
{{ semverCompare "nope" "1.2.3" }}
{{ semverCompare ">1" "nope" }}
{{ $v := semver "v1.2.3-beta.1+b5" }}{{ $v.Major }}.{{ $v.Minor }}.{{ $v.Patch }}-{{ $v.Prerelease }}+{{ $v.Metadata }} {{ $v.Original }} {{ $v }} {{ $v.String }} {{ (semver "1.2.3").Compare (semver "1.2.4") }} {{ $v | toString }}
{{ semver "1.2.3.4" }}
{{ semver "1" }} {{ semver "1.2" }}
{{ (semver "1.2.3").nope }}
{{ b64enc "hello" }} {{ b64dec "aGVsbG8=" }} {{ b64dec "aGVsbG8" }} {{ b64dec "!!!" }} {{ b64dec "/w==" | b64enc }} {{ b32enc "hello" }} {{ b32dec "NBSWY3DP" }} {{ b32dec "x" }} {{ b64dec "aGVs\nbG8=" }} {{ b64dec "a===" }} {{ b64dec "aGVsbG8==" }}
{{ toJson .Values.map }} {{ toPrettyJson .Values.map }} {{ toRawJson "<a>&" }} {{ toJson "<a>&\u2028" }} {{ toJson 1e21 }} {{ toJson 1e-7 }} {{ toJson 100.0 }} {{ toJson .Values.list }} {{ toJson nil }}
{{ fromJson "{\"a\": [1, 2.5, null]}" }} {{ fromJson "[1]" }} {{ fromJson "nope" }} {{ fromJsonArray "[1,\"a\"]" }} {{ fromJson "" }} {{ (fromJson "{\"a\":1}").a | typeOf }}
{{ toYaml .Values.map }}
{{ toYaml .Values }}
{{ toYaml .Values.multi }}|{{ toYaml .Values.quote }}|{{ toYaml .Values.uni }}|{{ toYaml "" }}|{{ toYaml nil }}|{{ toYaml 1.5 }}|{{ toYaml 1e6 }}|{{ toYaml 1e21 }}|{{ toYaml true }}|{{ toYaml (list) }}|{{ toYaml (dict) }}
{{ toYamlPretty (dict "a" (list 1 2 (dict "b" (list "x"))) "f" 1e6 "s" "yes") }}
{{ toYaml (dict "a10" 1 "a2" 2 "A" 3 "1" 4 "_" 5 "a" 6 "b-1" 7 "b1" 8) }}
{{ toYaml (list "yes" "no" "on" "y" "~" "null" "1" "1.0" "0x1" "1e3" "12:30" "12:30:45" "2020-01-01" "2020-01-01T00:00:00Z" "true" "True" ".5" "-" "- a" "a: b" "a:b" "#x" "a #b" "[x" "{x" "@x" "%x" "!x" "&x" "*x" "|" ">" "'" "\"" " lead" "trail " "tab\t" "nl\n" "nl\n\n" "\nlead" "=" "<<" "0o7" "07" "1_000" "+1" ".inf" "NaN" "\\" "a\\b" "?" "? x" ":" "::" "a,b" "é" "😀" "\u00a0" "---" "--- x" "..." "x\ny" "x \ny" " x\ny" "x\n y" "x\r\ny") }}
{{ toYaml (dict "k" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb cccccccccccccc dddddddddddd" "q" "it's aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb cccccccccccccccccccc ddddddddddddddd e" "d" "tab\taaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb  ccccccccccccccccccc  dddd ee") }}
{{ toYaml (dict (repeat 130 "k") 1 "n" (list (list 1 2) (list) (dict "a" 1 "b" (list 1)) (dict))) }}
{{ toYaml (dict "yes" 1 "1" 2 "true" 3 "null" 4 "a b" 5 "a: b" 6 "" 7 "é" 8 "x\ny" 9) }}
{{ fromYaml "a: 1\nb: [x, yes, 010, 1_000, 12:30, 2020-01-01, ~, 0x1F, 1e3, .5, .inf]" | toJson }}
{{ fromYaml "a: 1\nb: [x, yes, 010, 0o17, 0b11, 08, 1_000, 12:30, 2020-01-01, ~, 0x1F, 1e3, .5, +1, -0]" | toJson }}
{{ fromYaml "a: {b: &x {c: 1}, d: *x}\ne: {<<: {f: 1}, g: 2}\nh: {g: 1, <<: {g: 2}}" | toJson }}
{{ fromYaml "a: 1\na: 2" | toJson }} {{ fromYaml "- a" | toJson | trunc 10 }} {{ fromYaml "a: b: c" | hasKey "Error" }}
{{ fromYaml "y: 1\n1: 2\n1.5: 3\ntrue: 4\n\"5\": 6" | toJson }}
{{ fromYaml "a: |\n  x\n  y\nb: >-\n  x\n  y\n\n  z\nc: \"x\\ty\"\nd: 'it''s'" | toJson }}
{{ fromYaml "a: 1\n---\nb: 2" | toJson }} {{ fromYaml "" | toJson }} {{ fromYaml "---\na: 1\n..." | toJson }} {{ fromYaml "# c\na: 1 # d" | toJson }}
{{ fromYaml "a: !!str 1\nb: !!int \"3\"\nc: !foo bar" | toJson }} {{ fromYamlArray "- 1\n- a: b" | toJson }} {{ fromYamlArray "a: 1" | len }}
{{ toToml (dict "a" 1 "b" "x" "c" (dict "d" 1.5 "e" (list 1 2)) "t" (list (dict "x" 1) (dict "x" 2)) "f" true) }}
{{ toToml (dict "z" (dict "y" (dict "x" 1)) "s" "q\"\n" "k e y" 1 "l" (list "a" (list 1))) }}
{{ fromToml "a = 1\nb = 1.5\n[c]\nd = \"x\"\ne = [1, 2]" | toJson }} {{ typeOf (fromToml "a = 1").a }} {{ fromToml "nope" | hasKey "Error" }}
{{ date "2006-01-02" 0 }} {{ dateInZone "2006-01-02T15:04:05Z07:00" 0 "UTC" }} {{ dateInZone "Mon Jan _2 15:04:05 2006" 1700000000 "UTC" }} {{ htmlDateInZone 86400 "UTC" }} {{ (toDate "2006-01-02" "2024-02-29").Format "Jan 2, 2006 Monday 002" }} {{ toDate "2006-01-02" "2024-02-29" | dateModify "24h" | date "2006-01-02" }} {{ unixEpoch (toDate "2006-01-02" "2024-02-29") }} {{ toDate "2006-01-02" "bad" }} {{ (toDate "2006-01-02 15:04:05.000 -0700" "2024-02-29 10:11:12.345 +0200").UTC }}
{{ mustToDate "2006-01-02" "bad" }}
{{ duration 95 }} {{ duration "95" }} {{ duration (int64 3661) }} {{ durationRound "2h10m5s" }} {{ durationRound "2400h" }} {{ durationRound "x" }} {{ durationSeconds "1m30s" }} {{ durationHours "90m" }} {{ mustToDuration "1h2m3.5s" }} {{ durationRoundTo "1h10m" "1h" }} {{ durationMilliseconds 1.5 }} {{ durationWeeks "336h" }}
{{ mustToDuration "x" }}
{{ urlParse .Values.url }} {{ urlJoin (dict "scheme" "http" "host" "h:80" "path" "/p q" "query" "a=b" "fragment" "f") }} {{ (urlParse "mailto:x@y").opaque }}
{{ urlParse "http://a b" }}
{{ base "/a/b.txt" }} {{ base "" }} {{ base "/" }} {{ dir "/a/b" }} {{ dir "a" }} {{ clean "a//b/../c/" }} {{ ext "x.tar.gz" }} {{ isAbs "/a" }} {{ clean "" }} {{ dir "/a/b/" }}
{{ ternary "a" "b" true }} {{ true | ternary "a" "b" }}
{{ ternary "a" "b" 1 }}
{{ coalesce nil "" 0 "x" }} {{ coalesce }} {{ all 1 "a" }} {{ all 1 0 }} {{ any 0 "" }} {{ any 0 1 }} {{ empty .Values.none }} {{ empty now }}
{{ derivePassword 1 "long" "password" "user" "example.com" }} {{ derivePassword 1 "nope" "p" "u" "s" }}
{{ genPrivateKey "nope" }} {{ htpasswd "a:b" "c" }} {{ encryptAES "k" "" }} {{ decryptAES "k" "" }}
{{ decryptAES "secret" (encryptAES "secret" "plain text") }} {{ len (randAlphaNum 5) }} {{ len (uuidv4) }} {{ len (randBytes 3) }} {{ kindOf (randInt 1 5) }} {{ len (shuffle "abc") }}
{{ genCA "x" }}
{{ (genCA "x" 1).Cert | trunc 27 }} {{ (genSelfSignedCert "x" nil nil 1).Key | trunc 31 }} {{ genSelfSignedCert "x" (list "nope") nil 1 }}
{{ genSignedCert "x" nil nil 1 "nope" }}
{{ with genPrivateKey "ecdsa" }}{{ $ca := genCAWithKey "x" 1 . }}{{ typeOf $ca }} {{ typeOf (genSelfSignedCertWithKey "x" nil nil 1 .) }} {{ typeOf (genSignedCertWithKey "x" nil nil 1 $ca .) }} {{ typeOf (genSignedCert "x" nil nil 1 $ca) }} {{ typeOf (buildCustomCert (b64enc $ca.Cert) (b64enc $ca.Key)) }}{{ end }}
{{ typeOf (genSelfSignedCert "x" (list "10.0.0.1") (list "a.b") 1) }}
{{ semverCompare ">=1.20-0" "1.20.4-beta.1" }}
{{ buildCustomCert "bm8=" "bm8=" }}
{{ dateInZone "2006-01-02 15:04" 86400 "Europe/Berlin" }} {{ date_in_zone "15:04" 3600 "UTC" }} {{ htmlDateInZone 86400 "UTC" }} {{ dateInZone "2006" 0 "Nowhere" }}
{{ toDate "2006-01-02" "2024-02-29" | date_modify "-24h" | date "2006-01-02" }} {{ toDate "2006-01-02" "2024-02-29" | must_date_modify "36h" | htmlDate }} {{ mustDateModify "x" now }}
{{ durationMinutes "90s" }} {{ durationMilliseconds "1s" }} {{ durationMicroseconds "1s" }} {{ durationNanoseconds "1s" }} {{ durationWeeks "336h" }} {{ mustToToml (dict "a" 1) }} {{ mustToPrettyJson (dict "a" 1) }} {{ add1f 1.5 }}
{{ unknownFunction 1 }}
{{ if }}x{{ end }}
{{ if true }}x
{{ end }}
{{ else }}
{{ range }}{{ end }}
{{ "unterminated }}
{{ "a" | }}
{{ | "a" }}
{{ ( }}
{{ (1 }}
{{ 1) }}
{{ .a.}}
{{ .a..b }}
{{ $ }}{{ $. }}
{{ $.Values.str }} {{ $undefined }}
{{ template }}
{{ template "a" "b" "c" }}
{{ define }}{{ end }}
{{ define "x" }}
{{ /* unclosed }}
{{/* x */ }}
{{ 3x }}
{{ "a"b }}
{{ .Values.a-b }}
{{ é }}
{{ @ }}
{{ a := 1 }}
{{ $a := }}
{{ $a := 1 | }}
{{ nil | quote }}
{{ .Values.nil | quote }}|{{ .Values.nope | quote }}|{{ nil }}
{{ trim nil }}
{{ trim .Values.nil }}
{{ trim .Values.int }}
{{ .Values.nope | trim }}
{{ upper 3 }}
{{ trunc "3" "x" }}
{{ trunc 3.0 "hello" }} {{ trunc 3.5 "hello" }}
{{ trunc .Values.int "hello" }}
{{ hasKey .Values.list "a" }}
{{ hasKey .Values "int" }} {{ hasKey .Values.map "n" }} {{ .Values.map.n }} {{ get .Values.map "n" }}
{{ set .Values "new" 1 | len }}{{ .Values.new }}
{{ $_ := set .Values.map "b" "changed" }}{{ .Values.map.b }}
{{ call .Values.str }}
{{ call nil }}
{{ .Values.uni | trunc 5 | quote }} {{ .Values.uni | trunc 4 | b64enc }} {{ printf "%q" (trunc 4 .Values.uni) }} {{ toJson (trunc 4 .Values.uni) }}
{{ toString .Values.int }}{{ toString 1e6 }}{{ toString nil }}|{{ toStrings (list 1 nil "a") }}|{{ join "," "abc" }}|{{ join "," 5 }}|{{ join "," nil }}
{{ .Values.list | toString }} {{ .Values.map | toString | quote }} {{ .Values.big | quote }} {{ .Values.big | int | quote }} {{ .Values.big | toString }} {{ .Values.big }}
{{ "%d" | printf }} {{ 5 | printf "%d %s" 4 }}
{{- range $i, $e := tuple 1 "a" nil }}{{ $i }}{{ $e }}{{ end }}
{{ (index .Values.list 0) | upper }} {{ (first .Values.words).x }}
{{ with (dict "a" nil) }}{{ .a }}{{ .b }}{{ end }}{{ with (dict "a" nil) }}{{ .a.b }}{{ end }}
{{ range $i, $e := (dict "z" 1 "a" 2 "é" 3 "Z" 4 "10" 5 "9" 6) }}{{ $i }}{{ end }}
{{ (dict "a" 1).a | add 1 }}{{ (list 1 2 3 | first) }}{{ list 1 2 3 | len | add 1 }}
{{ eq "a" "b" | not | ternary 1 2 }}
{{ cat "a" (list) (dict) 1.0 1e10 }} {{ 1.0 }} {{ 10.50 }} {{ 1e10 }} {{ 123456.789 }} {{ 1234567.0 }}
`;

const languageSnippets: Snippet[] = language
  .split('\n')
  .filter((line) => line !== '')
  .map((template) => ({ template }));

/** Multi-line templates, where places in errors have lines and columns. */
const placed: Snippet[] = [
  'a: 1\nb: {{ .Values.str.nope }}\n',
  'a: 1\n  b: {{ required "missing é" .Values.nope }}\n',
  'é {{ fail "x" }}',
  'a:\n  {{- include "h" (dict) | nindent 2 }}\n  {{- range .Values.words }}\n  - {{ .nope }}\n  {{- end }}\n',
  '{{ define "in" }}\n{{ .a.b.c }}{{ end }}\nx\n{{ include "in" . }}',
  '{{ define "in" }}{{ template "deeper" . }}{{ end }}{{ define "deeper" }}{{ .x.y }}{{ end }}{{ include "in" (dict "x" nil) | quote }}',
  '{{ if true }}\n{{ unknown }}\n{{ end }}',
  '{{ if true }}\n{{ "x }}\n',
  '{{ with .Values.map }}\n  {{ .a.b }}\n{{ end }}',
  '{{ tpl "x {{ .a.b }}" (dict) }}',
  '{{ tpl "{{ fail \\"inner\\" }}" . }}',
  '{{- $x := dict "a" nil -}}\n{{ $x.a.b }}',
  '{{ (index .Values.list 0).x.y }}',
  '{{ add 1 (trim .Values.int) }}',
  '{{ printf "%s" (upper (index .Values.list 2)) }}',
].map((template) => ({ template }));

/** What random templates found (`template-fuzz.test.ts`). */
const found: readonly Snippet[] = [
  '{{ nospace "grüße 😀 – ok" }}',
  '{{ nospace "grüße" }}',
  '{{ dig "a" "b" .Values }}',
  '{{ dig "a" "b" .Values.map }}',
  '{{ $d := mustToDuration "31s" }}{{ int64 $d }} {{ float64 $d }} {{ add $d 1 }} {{ max $d 1 }} {{ mul $d 2 }}',
  '{{ toJson .Capabilities.KubeVersion }}{{ toJson .Capabilities.APIVersions }}',
  '{{ toYaml (dict "c" .Capabilities.KubeVersion "a" .Chart.Annotations) }}',
  '{{ .Chart.Annotations }}{{ .Chart.Annotations.nope }}{{ toJson .Chart.Annotations }}',
].map((template) => ({ template }));

/** What a reader of Helm's sources asked, rule by rule, and we had wrong. */
const audited: readonly Snippet[] = String.raw`
{{ toJson (regexFindAll "x" "y" -1) }} {{ toYaml (rest (list)) }} {{ toJson (initial (list)) }} {{ toJson (concat) }} {{ toJson (concat (list) (list)) }} {{ toYaml (dict "l" (rest (list))) }}
{{ toYamlPretty (dict "l" (rest (list)) "a" .Chart.Annotations "b" (.Files.GetBytes "conf/b.json")) }} {{ toToml (dict "l" (rest (list)) "k" 1) }}
{{ eq (rest (list)) nil }} {{ ne nil (concat) }} {{ eq (rest (list)) (initial (list)) }} {{ deepEqual (rest (list)) (list) }} {{ deepEqual (deepCopy (rest (list))) (rest (list)) }}
{{ toJson (fromJson "null") }} {{ get (fromJson "null") "a" }} {{ merge (fromJson "null") (dict "a" 1) }} {{ toJson (fromJsonArray "null") }} {{ toJson (fromYamlArray "null") }}
{{ set (fromJson "null") "a" 1 }}
{{ unset nil "a" }} {{ .Files.nope }} {{ index .Files "nope" }} {{ sortAlpha .Capabilities.APIVersions | first }}
{{ chunk -2 (list 1 2 3) }} {{ chunk -2 (list 1) }} {{ chunk -1 (list 1 2) }}
{{ chunk 0 (list 1) }}
{{ chunk -1 (list 1) }}
{{ semver "01.02.3" }} {{ semverCompare ">=1.02" "01.08.3" }} {{ (semver "v1.2.3-a+b").SetPrerelease "x" }} {{ (semver "1.2.3").SetMetadata "y" }}
{{ semver "1.2.3-01" }}
{{ (semver "1.2.3").IncPatch.Original }}
{{ semverCompare "1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1||1" "1" }}
{{ initials "élan über First" }} {{ title "ǆ a" }} {{ untitle "İstanbul Á" }} {{ snakecase "ΑΣΣ Σ" }} {{ swapcase "1a Bc ǆ" }} {{ upper (b64dec "Yf9i") }} {{ js (b64dec "/w==") }} {{ toJson (b64dec "Yf9i") }}
{{ int "1." }} {{ int "1.0" }} {{ float64 "1_000" }} {{ float64 "1__0" }} {{ float64 "+nan" }} {{ 1_0.5 }} {{ 1e1_0 }} {{ toDecimal "7777777777777777777777777" }}
{{ subf 7 0.7968354228869245 3 }} {{ mulf 1e300 1e20 1e-300 }} {{ subf 1e20 0.1 99999999999999999999.0 }} {{ divf 1e20 7 1e-20 }} {{ round 123456.789 300 }} {{ round 0.1 23 }} {{ minf "-Inf" "nan" }}
{{ addf "inf" 1 }}
{{ regexReplaceAll "(a)" "ab" "$é<$1>$${'{'}1}" }} {{ regexReplaceAll "(a)" "ab" "$1é|$${'{'}é}|$${'{'}" }}
{{ regexFind "(" "a" }}
{{ mustRegexFind "\\" "a" }}
{{ printf "%05d|%8.2f|%-6t|" 8.5 "x" 1 }} {{ printf "%#.2v" "abc" }} {{ printf "%#q" (b64dec "/w==") }} {{ printf "%d" (.Files.Glob "*.json") }} {{ printf "%v" .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion | quote }}
{{ dateInZone "Month Mon Janet Jan Mond" 0 "UTC" }} {{ dateInZone "15:04 MST" 1720000000 "Asia/Tokyo" }} {{ dateInZone "15:04 MST" 1720000000 "Europe/Moscow" }} {{ dateInZone "15:04 MST" 1720000000 "Africa/Nairobi" }} {{ dateInZone "15 MST" 0 "GMT" }} {{ dateInZone "15 MST" 0 "europe/berlin" }} {{ dateInZone "15 MST" 0 "+05:30" }} {{ dateInZone "15 MST" 0 "IST" }}
{{ toDate "2006 Jan  2" "2024 feb 9" }} {{ toDate "15:04" "9:30" }} {{ toDate "2006-002" "2024-060" }} {{ toDate "2006 __2" "2024  60" }} {{ toDate "3:04PM" "9:30pm" }} {{ toDate "3:04 PM" "13:30 PM" }} {{ toDate "-0700" "+2500" }}
{{ toDate "2006-01-02T15:04:05Z07:00" "2024-02-29T10:11:12+02:00" }} {{ toDate "2006-01-02 MST" "2024-02-29 CET" }} {{ toDate "2006-01-02 MST" "2024-02-29 GMT+3" }} {{ toDate "2006-01-02 -0700 MST" "2024-02-29 -0500 EST" }} {{ toToml (dict "a" (toDate "2006" "2024")) }}
{{ mustToDate "2006-002" "2023-366" }}
{{ mustToDate "2006 002 01 02" "2024 060 02 28" }}
{{ $d := toDate "2006" "2024" }}{{ $d.Add (mustToDuration "1h") }} {{ $d.Compare $d }} {{ $d.UnixMicro }} {{ $d.Month.String }} {{ eq $d $d }} {{ ($d.Sub $d).Hours }} {{ (mustToDuration "-1h31m1.5s").Minutes }} {{ (mustToDuration "-90s").Abs }} {{ (mustToDuration "90s").Round (mustToDuration "1m") }}
{{ durationSeconds "9223372036854775808ns" }} {{ durationSeconds "1.99999999999999999999999s" }} {{ duration "99999999999999999999" }}
{{ mustToDuration 1e10 }}
{{ toYaml (list 1e19 1e20 -1e19) }} {{ toYaml (dict "a\nb" (list 1) "\r" (dict "c" 1) (repeat 130 "k") (list (list 1))) }} {{ toYaml (list "\ufeffx" "a\u0085b" "a \u0085\u0085 b") }}
{{ toYaml "a\u007f" }}|{{ toYamlPretty (list "😀" "a\tb\nc" (b64dec "/w==")) }}
{{ toToml (dict "l" (list (dict "t" (dict "x" 1) "v" 1 "n" nil) 2)) }}
{{ fromYaml "a: |\n  x" | toJson }} {{ fromYaml "a: >\n  x\n  y" | toJson }} {{ fromYaml "a: |+\n  x" | toJson }} {{ fromYaml "a: |\n  x\n  " | toJson }}
{{ fromYaml "a: <<\nb: [<<]" | toJson }} {{ fromYaml "a: \"b\nc\"" | toJson }} {{ fromYaml "  a: b\n c: d" | toJson }} {{ fromYaml "{a: 1} b" | toJson }}
{{ fromYaml "a: *nope" | hasKey "Error" }}
{{ hasKey (fromYaml "a: *nope") "Error" }} {{ hasKey (fromYaml "a: !!int x") "Error" }} {{ hasKey (fromYaml "a: !!binary \"a b\"") "Error" }} {{ hasKey (fromYaml "%YAML 1.2\n---\na: 1") "Error" }} {{ hasKey (fromYaml "a: \u0001") "Error" }} {{ hasKey (fromYaml "a: 1\n- 2") "Error" }}
`
  .trim()
  .split('\n')
  .map((template) => ({ template }));

/** What arguments found that were made by the grammar of what reads them. */
const grammatical: readonly Snippet[] = String.raw`
{{ urlParse "1a:b c#d" }}
{{ urlParse ":a#b" }}
{{ urlParse "http://a/%zz#b" }}
{{ urlParse "http://a/b#%zz" }}
{{ urlParse "a:b@c#%zz" }}
{{ urlParse "http://%41/x" }}
{{ urlParse "http://ü.de/%C3%BC?é#é" }} {{ urlParse "http://ü.de/ü?é#é" | urlJoin }}
{{ urlParse "http://a/!'()*;b/*" | urlJoin }} {{ urlJoin (dict "path" "*") }}
{{ urlJoin (dict "host" "a b<>"ü" "path" "c") }}
{{ urlParse "http://a b@[/c" }}
{{ urlParse "http://a[b" }}
{{ urlParse "http://a:1:b" }}
{{ urlParse "db://a:1,b:2/c" }}
{{ urlParse "http://[::1]x" }}
{{ urlParse "http://[::1]:80" }}
{{ urlJoin (dict "path" nil) }}
{{ urlJoin (dict "opaque" "x" "userinfo" "a b") }}
{{ urlJoin (dict "host" 1) }}
{{ toToml (list (dict)) }} {{ toToml (list (dict "a" 1)) }} {{ toToml (list 1) }}
{{ printf "%0[3][x]v|%[9]d|%[9][1]d|%[x][1]d|%[0]d|%[1]*[2]d" 1 2 }}
{{ regexSplit "(" "a" 0 }}
{{ mustRegexFindAll "(" "a" 0 }}
{{ regexFindAll "a" "a" 0 }}{{ regexSplit "a" "a" 0 }}
`
  .trim()
  .split('\n')
  .map((template) => ({ template }));

/** Lines of charts with one character or line changed: what is read of them, and what is said of those that are refused. */
const changedYaml: readonly Snippet[] = [
  'a: 1\n- 2',
  'a: 1\n  b: 2',
  'a: b: c',
  'a: b\n[',
  'a: [b\n[c',
  'a: 1\nb: [\n[',
  'a: {b\n- c',
  'a:\n  - b\n c: d',
  'a:\n  - b\n  c: d',
  'a: @b',
  '\ta: b',
  'a:\n\tb: c',
  'a: "b',
  'a: 1\nb: "c',
  'a: "\\z"',
  'a: "\\x4"',
  'a: "\\u12"\nb: c',
  'a: "b\n---\n"',
  'a: |\n\tb',
  'a: |0\n b',
  'a: | b\n c',
  'a: >\n   b\n  c\n d',
  'a: b\n c: d',
  '- a\nb',
  '- a\n- b: c\n   d: e',
  '? a\nb',
  ': a',
  '[a]: b',
  '{a: {b: c}}: d',
  '~: a',
  'a:\n  b: c\n  {}\n',
  '{}: a',
  '[]: a',
  '{a: {}: b}',
  '18446744073709551615: a',
  '[? : b]',
  '[a: b, c: [d]]',
  '{? a, b: , c}',
  'a: &b',
  'a: & b',
  'a: *b',
  'a: &b\n  <<: *b',
  '<<: [1]',
  'a: !<b c',
  'a: !b!c d',
  'a: !%zz b',
  'a: !!int b',
  'a: !!float 0x1F\nb: !!bool "yes"\nc: !!null ""\nd: !!binary aGk=\ne: ! 1',
  '%YAML 1.2\n---\na: b',
  '%TAG ! x\n---\na: b',
  '%FOO\n---\na: b',
  '%YAML 1.1\na: b',
  '\ufeffa: b\n\ufeffc: d',
  '\ufeff\ufeffa: b\n c: d',
  'a: b\u2028c: d',
  'a: b\u0085  c',
  'a: b\r  c\rd: e',
  `a: 1\n${'b'.repeat(1025)}: 2`,
  `{a: ${'b'.repeat(600)}, ${'é'.repeat(1024)}: c}`,
  '? |\n  long\n: a',
  'x:\n  ? |2-\n      a\n    b\n  : c',
  'a: |2+\nb: 1',
  'a: |+\n\n\n\nb: c',
  'a: >-\n\n  b\n   c\n\n  d\n  e',
  'a: b # c\n# d\n  e',
  'a: "b\\\n  c \\\n\n  d"',
  "a: 'b''\n\n  c'",
  'a: .inf',
  'a: 1152921504606846976\nb: 9223372036854775807\nc: -9223372036854775808',
  'a: 1\n\x01',
  `a: 1\n${'# b\n'.repeat(200)}\x01`,
  `a: [\n${'# b\n'.repeat(200)}\x01`,
  `}\n${'é😀'.repeat(84)}\n ]\n\x01`,
].flatMap((text) =>
  [
    '{{ fromYaml .Values.text | toJson }}',
    '{{ fromYamlArray .Values.text | toJson }}',
    '{{ toYaml .Values.text }}',
  ].map((template) => ({ template, values: { text } })),
);

/** What is written otherwise than most texts. */
const written: readonly Snippet[] = [
  'a\nb\u2028c\n\u2028d',
  'x\u2029y',
  "\u2028'x",
  'a\nb\u2028',
  'a\nb\u2028\n',
  'a\n \u2028b',
  '\u0085',
  'k'.repeat(1022),
  'k'.repeat(1023),
  `${'k'.repeat(1016)}<`,
  `${'k'.repeat(1017)}<`,
].flatMap((text) =>
  [
    '{{ toYaml (list .Values.text (dict "k" .Values.text "l" 1)) }}|{{ toYaml (dict .Values.text (list 1) "z" 2) }}',
    '{{ toYamlPretty (list .Values.text (dict "k" .Values.text "l" 1)) }}|{{ toYamlPretty (dict .Values.text (list 1)) }}',
    '{{ mustToYaml (dict .Values.text 1) }}',
  ].map((template) => ({ template, values: { text } })),
);

export const snippets: readonly Snippet[] = [
  ...languageSnippets,
  ...found,
  ...audited,
  ...placed,
  ...grammatical,
  ...changedYaml,
  ...written,
  ...functionSnippets(),
];
