import { describe, expect, it } from 'vitest';

import { fromPlain } from '../go/values.ts';
import { TemplateSet } from '../template/template-set.ts';
import { makeEnvironment } from './environment.ts';
import { helmFunctions } from './index.ts';

function run(text: string, values: object = {}): string {
  const set = new TemplateSet({ functions: helmFunctions, missingKey: 'zero', environment: makeEnvironment() });
  set.add('t', text);
  return set.execute('t', fromPlain(values));
}

/** What Helm answered to the same. */
describe('a function of Helm', () => {
  it.each([
    [
      'a list nobody made is null to encoders',
      '{{ toJson (regexFindAll "x" "y" -1) }} {{ toYaml (rest (list)) }} {{ toJson (initial (list)) }} {{ toJson (concat (list) (list)) }}',
      'null null null null',
    ],
    [
      'an empty list somebody made is one',
      '{{ toJson (list) }} {{ toJson (rest (list 1)) }} {{ toJson (compact (list 0)) }}',
      '[] [] []',
    ],
    [
      'a list nobody made equals nil, and no other list',
      '{{ eq (rest (list)) nil }} {{ deepEqual (rest (list)) (list) }}',
      'true false',
    ],
    ['TOML has no key for a list nobody made', '{{ toToml (dict "l" (rest (list)) "k" 1) }}', 'k = 1\n'],
    [
      'the map of JSON null is one to read',
      '{{ toJson (fromJson "null") }} {{ get (fromJson "null") "a" | quote }} {{ len (merge (fromJson "null") (dict "a" 1)) }}',
      'null "" 1',
    ],
    [
      'times are told apart by nanoseconds',
      '{{ $a := toDate "15:04:05.9" "1:00:00.123456789" }}{{ $b := toDate "15:04:05.9" "1:00:00.123456788" }}{{ $a.Sub $b }} {{ $a.Before $b }} {{ $a.After $b }} {{ $a.Equal $b }} {{ $a.Compare $b }} {{ $b.Compare $a }}',
      '1ns false true false 1 -1',
    ],
    [
      'times too far apart are as far apart as a duration can say',
      '{{ (toDate "2006" "2024").Sub (toDate "2006" "1500") }}',
      '2562047h47m16.854775807s',
    ],
    [
      'times of TOML are times, and are written as they were read',
      '{{ $m := fromToml "a = 1979-05-27T00:32:00.5-07:00\\nb = 1979-05-27\\nc = 07:32:00\\nd = 1979-05-27 07:32:00" }}{{ toToml $m }}{{ toJson $m }} {{ typeOf $m.b }} {{ $m.b }}',
      `a = 1979-05-27T00:32:00.5-07:00
b = 1979-05-27
c = 07:32:00
d = 1979-05-27T07:32:00
{"a":"1979-05-27T00:32:00.5-07:00","b":"1979-05-27T00:00:00Z","c":"0000-01-01T07:32:00Z","d":"1979-05-27T07:32:00Z"} time.Time 1979-05-27 00:00:00 +0000 date-local`,
    ],
    ['%#v says of a list that nobody made it', '{{ regexFindAll "a" "b" -1 | printf "%#v" }}', '[]string(nil)'],
    ['versions may begin with zeros', '{{ semverCompare ">=1.02" "01.08.3" }} {{ semver "01.02.3" }}', 'true 1.2.3'],
    [
      'versions are changed',
      '{{ (semver "v1.2.3-a+b").SetPrerelease "x" }} {{ (semver "1.2.3").IncPatch }}',
      '1.2.3-x+b 1.2.4',
    ],
    ['initials are bytes', '{{ initials "First Try" }} {{ initials "élan" }}', 'FT Ã'],
    [
      'case is changed rune by rune',
      '{{ title "ǆ" }} {{ untitle "İstanbul" }} {{ snakecase "ΑΣΣ Σ" }} {{ swapcase "1a Bc" }}',
      'ǅ istanbul ασσ_σ 1A bC',
    ],
    [
      'numbers in texts are those of Go',
      '{{ int "1." }} {{ int "1.0" }} {{ float64 "1_000" }} {{ float64 "1__0" }} {{ float64 "+nan" }} {{ 1_0.5 }}',
      '0 1 1000 0 0 10.5',
    ],
    [
      'octal numbers that fit nothing are zero',
      '{{ toDecimal "7777777777777777777777777" }} {{ toDecimal "777" }}',
      '0 511',
    ],
    [
      'decimals are rounded at the end only',
      '{{ subf 7 0.7968354228869245 3 }} {{ mulf 1e300 1e20 1e-300 }} {{ subf 1e20 0.1 99999999999999999999.0 }}',
      '3.2031645771130757 1e+20 -0.1',
    ],
    [
      'rounding takes powers of ten as Go does',
      '{{ round 123456.789 300 }} {{ round 0.1 23 }} {{ round 2.345 2 }}',
      '123456.789 0.1 2.35',
    ],
    ['infinity decides before what is no number', '{{ minf "-Inf" "nan" }} {{ maxf "nan" "Inf" }}', '-Inf +Inf'],
    ['replacements name groups in all letters', '{{ regexReplaceAll "(a)" "ab" "$é<$1>${1}" }}', '<a>ab'],
    ['JSON escapes bytes that are no characters', '{{ toJson (b64dec "Yf9i") }}', '"a\\ufffdb"'],
    [
      'TOML has times, and tables last',
      '{{ toToml (dict "a" (toDate "2006-01-02" "2024-02-29") "l" (list (dict "t" (dict "x" 1) "v" 1) 2)) }}',
      'a = 2024-02-29T00:00:00Z\nl = [{v = 1, t = {x = 1}}, 2]\n',
    ],
    ['chunks of less than nothing are none', '{{ chunk -2 (list 1 2 3) }}', '[]'],
    [
      'a complaint has the flags of its verb',
      '{{ printf "%05d|%8.2f|" 8.5 "x" }}',
      '%!d(float64=008.5)|%!f(string=       x)|',
    ],
    [
      'a year may begin with zeros, a word with a month',
      '{{ dateInZone "Month Mon Janet Jan" 0 "UTC" }}',
      'Month Thu Janet Jan',
    ],
    ['dates are read with any spaces', '{{ toDate "2006 Jan  2" "2024 feb 9" }}', '2024-02-09 00:00:00 +0000 UTC'],
    ['hours need no zero', '{{ (toDate "15:04" "9:30").Format "15:04" }}', '09:30'],
    ['days of the year are read', '{{ (toDate "2006-002" "2024-060").Format "2006-01-02" }}', '2024-02-29'],
    [
      'an offset stays with its time',
      '{{ toDate "2006-01-02T15:04:05Z07:00" "2024-02-29T10:11:12+02:00" }}',
      '2024-02-29 10:11:12 +0200 +0200',
    ],
    ['PM is no pm', '{{ toDate "3:04PM" "9:30pm" | unixEpoch }}', '-62135596800'],
    [
      'zones have the names of the time zone database',
      '{{ dateInZone "MST" 1720000000 "Asia/Tokyo" }} {{ dateInZone "MST" 1720000000 "Europe/Moscow" }} {{ dateInZone "MST" 1720000000 "GMT" }}',
      'JST MSK GMT',
    ],
    [
      'zones are files',
      '{{ dateInZone "15 MST" 0 "europe/berlin" }} {{ dateInZone "15 MST" 0 "Europe/Berlin" }} {{ dateInZone "15 MST" 0 "+05:30" }}',
      '00 UTC 01 CET 00 UTC',
    ],
    [
      'durations have methods',
      '{{ (mustToDuration "-1h30m").Hours }} {{ (mustToDuration "90s").Minutes }} {{ (toDate "2006" "2024").Month.String }}',
      '-1.5 1.5 January',
    ],
    [
      'durations end where 64 bits do',
      '{{ durationSeconds "9223372036854775808ns" }} {{ durationSeconds "1.99999999999999999999999s" }}',
      '0 2',
    ],
  ])('%s', (_sentence, template, expected) => {
    expect(run(template)).toBe(expected);
  });

  it('a map nobody made takes no entry', () => {
    expect(() => run('{{ set (fromJson "null") "a" 1 }}')).toThrow('assignment to entry in nil map');
  });

  it('says which expression it could not read', () => {
    expect(() => run('{{ regexFind "(" "a" }}')).toThrow(
      'regexp: Compile(`(`): error parsing regexp: missing closing ): `(`',
    );
  });

  it('refuses constraints of more than 32 parts, and decimals of more digits than anybody reads', () => {
    expect(() => run(`{{ semverCompare "${Array(33).fill('1').join('||')}" "1" }}`)).toThrow(
      'too many constraint groups',
    );
    expect(() => run(`{{ mulf ${'1e300 '.repeat(100)} }}`)).toThrow('so many digits');
  });
});

describe('a complaint of a function', () => {
  it.each([
    ['{{ substr -2 7 "four" }}', 'slice bounds out of range [:7] with length 4'],
    ['{{ substr 5 -1 "four" }}', 'slice bounds out of range [5:4]'],
    ['{{ substr -1 -1 "four" }}', 'slice bounds out of range [:-1]'],
    ['{{ dig "a" nil "b" (dict "x" 1) }}', 'interface conversion: interface {} is nil, not string'],
    [
      '{{ semver "99999999999999999999.0.0" }}',
      'error parsing version segment: strconv.ParseUint: parsing "99999999999999999999": value out of range',
    ],
    [
      '{{ regexFind (b64dec "Yf9i") "b" }}',
      'regexp: Compile("a\\xffb"): error parsing regexp: invalid UTF-8: `\udcffb`',
    ],
    [
      '{{ mustToDate "2006" "é\\n\\"" }}',
      'parsing time "\\xc3\\xa9\\x0a\\"" as "2006": cannot parse "\\xc3\\xa9\\x0a\\"" as "2006"',
    ],
  ])('about %s is worded as Go words it', (text, complaint) => {
    expect(() => run(text)).toThrow(complaint);
  });
});
