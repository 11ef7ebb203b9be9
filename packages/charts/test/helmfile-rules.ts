/** A small tree that asks one question about helmfile's rules. */
export interface HelmfileRule {
  readonly name: string;
  /** Beside a chart in `chart/` that shows its values. */
  readonly files: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly selectors?: readonly string[];
  readonly stateValuesFiles?: readonly string[];
  readonly stateValuesSet?: readonly string[];
  readonly stateValuesSetString?: readonly string[];
  readonly includeNeeds?: boolean;
}

const plain = 'helmfile.yaml';
const template = 'helmfile.yaml.gotmpl';

/** A state with one release and these lines in it. */
function release(lines = '', name = 'web'): string {
  return `releases:\n  - name: ${name}\n    namespace: apps\n    chart: ./chart\n${lines}`;
}

const nested = (name: string, lines = '') => release(lines, name).replace('./chart', '../chart');
const allValues = '    values: [{all: {{ .Values | toJson | quote }}}]\n';
const states = (text: string, name = plain) => ({ [name]: text });

const chain = `releases:
  - {name: a, namespace: n, chart: ./chart, needs: [b]}
  - {name: b, namespace: n, chart: ./chart, needs: [n/c]}
  - {name: c, namespace: n, chart: ./chart, needs: [m/d]}
  - {name: d, namespace: m, chart: ./chart}
  - {name: e, namespace: n, chart: ./chart}
`;

const parts: HelmfileRule[] = [
  {
    name: 'labels nobody gave are nothing, those that are there are texts',
    files: states(
      release(
        "    valuesTemplate: [{ own: '{{ .Release.Labels | toJson }} {{ typeOf .Release.Labels }}' }]\n" +
          "  - {name: db, chart: ./chart, labels: {a: b}, valuesTemplate: [{ own: '{{ .Release.Labels | toJson }} {{ typeOf .Release.Labels }}' }]}\n",
      ),
    ),
  },
  {
    name: 'defaults of parts accumulate, and a null in them takes away',
    files: states(
      `values: [{a: 1, m: {x: 1, y: 2}, l: [1, 2], n: 5}]\n---\nvalues: [{b: {{ .Values.a }}2, m: {y: 3, z: null}, l: [9], n: null}]\n---\n${release(allValues)}`,
      template,
    ),
  },
  {
    name: 'values of the environment accumulate over parts',
    files: states(
      `environments: {default: {values: [{a: 1, m: {x: 1}, l: [1], n: 5}]}}\n---\nenvironments: {default: {values: [{b: {{ .Values.a }}2, m: {y: 3}, l: [], n: null}]}}\n---\n${release(allValues)}`,
      template,
    ),
  },
  {
    name: 'defaults of a later part stay below the environment of an earlier one',
    files: states(`environments: {default: {values: [{a: 1}]}}\n---\nvalues: [{a: 2, b: 3}]\n---\n${release()}`),
  },
  {
    name: 'a separator with spaces after it divides documents, not parts',
    files: states(`values: [{a: 1}]\n--- \n${release(allValues)}`, template),
  },
  {
    name: 'a separator ends a block scalar, without a line break',
    files: states(`values:\n  - text: |\n      one\n---\n${release()}`),
  },
  {
    name: 'an indented separator is text',
    files: states(`values:\n  - text: |\n      one\n      ---\n      two\n${release()}`),
  },
  {
    name: 'lines end as they do on Windows',
    files: states(`values: [{a: 1}]\r\n---\r\n${release().replaceAll('\n', '\r\n')}`),
  },
  { name: 'empty parts', files: states(`---\n---\n---\n${release()}\n---\n`) },
  { name: 'nothing but comments', files: states('# nothing\n') },
  { name: 'releases of a later part replace those before', files: states(`${release()}---\n${release('', 'b')}`) },
  { name: 'releases of documents are joined', files: states(`${release()}--- \n${release('', 'b')}`) },
  {
    name: 'helmDefaults of parts: what says nothing does not replace',
    files: states(
      `helmDefaults: {wait: true, timeout: 10, historyMax: 3, createNamespace: true}\n---\nhelmDefaults: {wait: false, timeout: 20, historyMax: 0, createNamespace: false}\n${release()}`,
    ),
  },
  {
    name: 'helmDefaults that say nothing are not built',
    files: states(`helmDefaults: {wait: false, timeout: 0}\n${release()}`),
  },
  {
    name: 'an anchor of another part is unknown',
    files: states('templates:\n  t: &t {chart: ./chart}\n---\nreleases: []\nreleases:\n  - {name: a, <<: *t}\n'),
  },
  {
    name: 'two merge keys in a mapping',
    files: states('templates:\n  t: &t {chart: ./chart}\nreleases:\n  - name: a\n    <<: *t\n    <<: *t\n'),
  },
  {
    name: 'a list of merged mappings',
    files: states(
      'templates:\n  t: &t {chart: ./chart, namespace: one}\n  u: &u {namespace: two, labels: {a: b}}\nreleases:\n  - {name: a, <<: [*t, *u]}\n',
    ),
  },
  { name: 'environments and releases in one part', files: states(`environments: {default: {}}\n${release()}`) },
  {
    name: 'bases after releases',
    files: { ...states(`${release()}---\nbases: [b.yaml]\n`), 'b.yaml': 'values: []\n' },
  },
  { name: 'a document in braces', files: states('{releases: []}\n') },
];

const bases: HelmfileRule[] = [
  {
    name: 'bases lie below the state, later ones over earlier ones, and their lists are joined',
    files: {
      ...states(`bases: [one.yaml, two.yaml]\nvalues: [{a: own}]\ncommonLabels: {k: own}\n${release()}`),
      'one.yaml':
        'values: [{a: one, b: one}]\ncommonLabels: {k: one, l: one}\nhelmDefaults: {timeout: 5, wait: true}\n',
      'two.yaml':
        'values: [{b: two}]\nhelmDefaults: {timeout: 7, wait: false}\nreleases: [{name: two, chart: ./chart}]\n',
    },
  },
  {
    name: 'a base with a base',
    files: {
      ...states(`bases: [one.yaml]\n${release()}`),
      'one.yaml': 'bases: [two.yaml]\n',
      'two.yaml': 'values: []\n',
    },
  },
  {
    name: 'a base with parts',
    files: {
      ...states(`bases: [one.yaml.gotmpl]\n---\n${release()}`),
      'one.yaml.gotmpl': 'values: [{a: 1}]\n---\nvalues: [{b: {{ .Values.a }}}]\n',
    },
  },
  {
    name: 'a base does not see the environment of its own part',
    files: {
      ...states(`environments: {default: {values: [{a: 1}]}}\nbases: [one.yaml.gotmpl]\n---\n${release()}`),
      'one.yaml.gotmpl': 'values: [{b: {{ .Values.a }}}]\n',
    },
  },
  {
    name: 'paths in a base begin where the state is',
    files: {
      ...states(`bases: [sub/one.yaml.gotmpl]\n---\n${release()}`),
      'sub/one.yaml.gotmpl': 'values: [v.yaml, {r: {{ readFile "r.txt" }}}]\n',
      'v.yaml': 'from: top\n',
      'sub/v.yaml': 'from: sub\n',
      'r.txt': 'top',
      'sub/r.txt': 'sub',
    },
  },
];

const environments: HelmfileRule[] = [
  {
    name: 'the first part that defines environments has to define this one',
    environment: 'prod',
    files: states(`environments: {default: {}}\n---\nenvironments: {prod: {}}\n---\n${release()}`),
  },
  {
    name: 'parts without environments may come before',
    environment: 'prod',
    files: states(`values: [{a: 1}]\n---\nenvironments: {prod: {values: [{a: p}]}}\n---\n${release()}`),
  },
  { name: 'an environment nobody defines', environment: 'prod', files: states(release()) },
  {
    name: 'an environment that says nothing',
    environment: 'prod',
    files: states(`environments:\n  prod:\n---\n${release()}`),
  },
  ...['Error', 'Warn', 'Info', 'Debug', 'warn'].map((handler) => ({
    name: `a missing file of values where the handler is ${handler}`,
    files: states(
      `environments: {default: {missingFileHandler: ${handler}, values: [none.yaml, {a: 1}]}}\n---\n${release()}`,
    ),
  })),
  {
    name: 'the handler of the state is none of the environment',
    files: states(`missingFileHandler: Warn\nenvironments: {default: {values: [none.yaml]}}\n---\n${release()}`),
  },
  {
    name: 'the handler of the state is one of releases',
    files: states(`missingFileHandler: Info\n${release('    values: [none.yaml, {a: 1}]\n')}`),
  },
  {
    name: 'the handler of the state is one of nested states',
    files: states(`missingFileHandler: Warn\nhelmfiles: [none.yaml]\n${release()}`),
  },
  {
    name: 'files by a pattern, in order',
    files: {
      ...states(`environments: {default: {values: ["e/*.yaml"]}}\n---\n${release()}`),
      'e/b.yaml': 'x: b\n',
      'e/a.yaml': 'x: a\ny: a\n',
    },
  },
  {
    name: 'a file of values sees earlier parts, not earlier files',
    files: {
      ...states(`environments: {default: {values: [{a: 1}, b.yaml.gotmpl]}}\n---\n${release()}`),
      'b.yaml.gotmpl': 'b: {{ .Values.a }}\n',
    },
  },
  {
    name: 'maps, lists, scalars, nulls and falsehoods over each other',
    files: states(
      `environments: {default: {values: [{a: {b: 1, c: 2}, l: [1], s: x, t: true, m: {f: 1}, o: 1}, {a: {b: null}, l: null, s: "", t: false, m: [3], o: {x: 1}}]}}\n---\n${release()}`,
    ),
  },
  {
    name: 'a null of the environment takes no default away',
    files: states(
      `values: [{a: 1, c: {d: 1}}]\nenvironments: {default: {values: [{a: null, c: null, q: null}]}}\n---\n${release()}`,
    ),
  },
  {
    name: 'a list with holes fills in',
    files: states(
      `values: [{l: [1, {a: 1}, 3]}]\nenvironments: {default: {values: [{l: [null, {b: 2}]}]}}\n---\n${release()}`,
    ),
  },
];

const given: HelmfileRule[] = [
  {
    name: 'scalars set by hand',
    stateValuesSet: ['m.x=5', 's=new', 'n=null', 'f=1.5', 't=true', 'o=010', 'z=0', 'a\\.b=1,c=2'],
    files: states(`values: [{m: {x: 1, y: 2}, s: t, n: 1}]\n---\n${release(allValues)}`, template),
  },
  {
    name: 'items of lists set by hand',
    stateValuesSet: ['l[1].a=9'],
    files: states(`values: [{l: [1, {a: 1, b: 2}, 3]}]\n---\n${release(allValues)}`, template),
  },
  {
    name: 'files of values given from outside',
    stateValuesFiles: ['f.yaml', 'g.yaml.gotmpl'],
    stateValuesSet: ['l[0]=1'],
    files: {
      ...states(`values: [{l: [1, 2, 3], m: {x: 1}}]\n---\n${release(allValues)}`, template),
      'f.yaml': 'l: [7, 8]\nm: {x: yes, d: 2026-01-01}\n',
      'g.yaml.gotmpl': 'name: {{ .Environment.Name }}\n',
    },
  },
  { name: 'a file that is missing', stateValuesFiles: ['f.yaml'], files: states(release()) },
];

const scalars: HelmfileRule[] = [
  {
    name: 'scalars as go-yaml v3 reads and writes them',
    files: states(
      `values: [{a: 1.0, b: 1e6, c: 010, d: 0o10, e: 0x1F, f: yes, g: On, h: TRUE, i: 2026-01-02, j: ~, k: 1_000, l: .inf, m: 12:30:45, n: 1.10, o: "1e3", p: "", q: 1e21, r: 9223372036854775807, s: "on", t: "010", u: " x", v: "a: b", w: "#x", x: "-", y: "0o7"}]\n---\n${release('    values: [{all: {{ .Values | toYaml | quote }}, json: {{ .Values | toJson | quote }}}]\n')}`,
      template,
    ),
  },
  {
    name: 'flags as YAML 1.1 had them',
    files: states(
      'releases:\n  - {name: a, chart: ./chart, installed: yes}\n  - {name: b, chart: ./chart, installed: Off}\n  - {name: c, chart: ./chart, installed: ~}\n',
    ),
  },
  {
    name: 'numbers where texts belong',
    files: states(
      'releases:\n  - {name: 1, chart: ./chart, namespace: 2, version: 1.10, labels: {a: 1.50, b: true, c: ~, 5: x}}\n',
    ),
  },
  { name: 'a whole number with a point', files: states(release('    timeout: 7.0\n')) },
  { name: 'a text where a number belongs', files: states(release('    timeout: "7"\n')) },
  {
    name: 'values as Helm reads them',
    files: {
      ...states(release('    values: [v.yaml, {a: yes, b: 010, c: "yes", d: 2026-01-01, e: y}]\n')),
      'v.yaml': 'fa: yes\nfb: 010\nfd: 2026-01-01\n---\nsecond: only for Helm\n',
    },
  },
  {
    name: 'a chart that is a library',
    files: { ...states(release()), 'chart/Chart.yaml': 'apiVersion: v2\nname: chart\nversion: 1.0.0\ntype: library\n' },
  },
  {
    name: 'a chart that lacks a dependency',
    files: {
      ...states(release()),
      'chart/Chart.yaml':
        'apiVersion: v2\nname: chart\nversion: 1.0.0\ndependencies: [{ name: db, version: 1.0.0, repository: "https://charts.example.com" }]\n',
    },
  },
  {
    name: 'a chart for another Kubernetes',
    files: {
      ...states(release()),
      'chart/Chart.yaml': 'apiVersion: v2\nname: chart\nversion: 1.0.0\nkubeVersion: "<1.10"\n',
    },
  },
  { name: 'a name that is none', files: states(release('', 'Web')) },
  { name: 'a mark of byte order before a state', files: states(`\uFEFF${release()}`) },
  { name: 'a directory among values', files: states(release('    values: [chart]\n')) },
  {
    name: 'variables of a shell',
    files: states(
      release('    values: [{x: {{ expandenv "$IMAGE_TAG ${IMAGE_TAG} $NONE $$ $1." | quote }}}]\n'),
      template,
    ),
  },
];

const releases: HelmfileRule[] = [
  ...['namespace', 'kubeContext'].map((key) => ({
    name: `a ${key} of the state counts for all`,
    files: {
      ...states(`${key}: top\n${chain.replaceAll('./chart,', './chart, values: [v.yaml.gotmpl],')}`),
      'v.yaml.gotmpl':
        'in: {{ .Release.Namespace }} {{ .Namespace | quote }} {{ .Release.KubeContext | quote }}\nl: {{ .Release.Labels | toJson }}\n',
    },
  })),
  {
    name: 'releases of one name on two clusters',
    files: states(
      'releases:\n  - {name: a, chart: ./chart, kubeContext: one, values: [{x: 1}]}\n  - {name: a, chart: ./chart, kubeContext: two, values: [{x: 2}]}\n',
    ),
  },
  {
    name: 'a need on another cluster',
    files: states(
      'releases:\n  - {name: a, namespace: n, chart: ./chart, kubeContext: one, needs: [two/n/b]}\n  - {name: b, namespace: n, chart: ./chart, kubeContext: two}\n',
    ),
  },
  {
    name: 'a need stays on its cluster',
    files: states(
      'releases:\n  - {name: a, namespace: n, chart: ./chart, kubeContext: one, needs: [b]}\n  - {name: b, namespace: n, chart: ./chart, kubeContext: two}\n',
    ),
  },
  { name: 'all needs', files: states(chain) },
  { name: 'a need that is not selected', selectors: ['name=a'], files: states(chain) },
  { name: 'the order through what is left out', selectors: ['name=a', 'name=c'], files: states(chain) },
  { name: 'needs of needs', selectors: ['name=a'], includeNeeds: true, files: states(chain) },
  {
    name: 'the order of what nobody needs',
    files: states(
      'releases:\n  - {name: z, chart: ./chart, needs: [m]}\n  - {name: w, chart: ./chart}\n  - {name: m, chart: ./chart, needs: [b]}\n  - {name: b, chart: ./chart}\n  - {name: x, chart: ./chart, needs: [w]}\n',
    ),
  },
  {
    name: 'needs in a circle nobody selected',
    selectors: ['name=x'],
    files: states(
      'releases:\n  - {name: x, chart: ./chart}\n  - {name: a, chart: ./chart, needs: [b]}\n  - {name: b, chart: ./chart, needs: [a]}\n',
    ),
  },
  {
    name: 'a need that a condition disables',
    files: states(
      'values: [{b: {enabled: false}}]\nreleases:\n  - {name: a, chart: ./chart, needs: [b]}\n  - {name: b, chart: ./chart, condition: b.enabled}\n',
    ),
  },
  {
    name: 'a need that is not to be installed',
    selectors: ['name=a'],
    includeNeeds: true,
    files: states(
      'releases:\n  - {name: a, chart: ./chart, needs: [b]}\n  - {name: b, chart: ./chart, installed: false}\n',
    ),
  },
  {
    name: 'expressions that take five passes',
    files: states(
      "releases:\n  - name: a\n    chart: ./chart\n    labels: {a: '{{ .Release.Labels.b }}', b: '{{ .Release.Labels.c }}', c: '{{ .Release.Labels.d }}', d: x}\n",
    ),
  },
  {
    name: 'expressions that never settle',
    files: states(
      "releases:\n  - {name: a, chart: ./chart, labels: {x: '{{ .Release.Labels.y }}a', y: '{{ .Release.Labels.x }}b'}}\n",
    ),
  },
  {
    name: 'an installedTemplate that comes to nothing',
    files: states(
      "releases:\n  - {name: a, chart: ./chart, installedTemplate: ''}\n  - {name: b, chart: ./chart, installedTemplate: 'yes'}\n",
    ),
  },
  {
    name: 'lists of versions that say nothing',
    files: states(`apiVersions: [a/v1]\n${release('    apiVersions: []\n')}`),
  },
  {
    name: 'later values over earlier ones, with nulls',
    files: {
      ...states(
        release(
          '    values:\n      - {a: {b: 1, c: 2}, l: [1], n: 1, t: true}\n      - v.yaml\n      - {a: {c: null}, n: null, l: [], t: false}\n',
        ),
      ),
      'v.yaml': 'a: {d: 3}\n',
    },
  },
];

const nesting: HelmfileRule[] = [
  {
    name: 'nested states come first, in their order',
    files: {
      ...states(`helmfiles: [s/z.yaml, s/a.yaml]\n${release()}`),
      's/z.yaml': nested('z'),
      's/a.yaml': nested('a'),
    },
  },
  {
    name: 'nested states of a later part replace those before',
    files: {
      ...states(`helmfiles: [s/z.yaml]\n---\nhelmfiles: [s/a.yaml]\n${release()}`),
      's/z.yaml': nested('z'),
      's/a.yaml': nested('a'),
    },
  },
  {
    name: 'values for a nested state',
    files: {
      ...states(
        `helmfiles:\n  - path: s/a.yaml.gotmpl\n    values: [{e: given, d: given, l: [1], n: null}, v.yaml]\n${release()}`,
      ),
      'v.yaml': 'from: top\n',
      's/v.yaml': 'from: sub\n',
      's/a.yaml.gotmpl': `values: [{d: own, x: own, n: own}]\nenvironments: {default: {values: [{e: own, l: [2, 3], f: {{ .Values.e }}}]}}\n---\n${nested('a', allValues)}`,
    },
  },
  {
    name: 'values set by hand do not reach nested states',
    stateValuesSet: ['a=set'],
    files: {
      ...states(`values: [{a: own}]\nhelmfiles: [s/a.yaml.gotmpl]\n---\n${release(allValues)}`, template),
      's/a.yaml.gotmpl': `values: [{a: sub}]\n---\n${nested('a', allValues)}`,
    },
  },
  {
    name: 'a nested state that does not know the environment is passed over',
    environment: 'prod',
    files: { ...states(`environments: {prod: {}}\n---\nhelmfiles: [s/a.yaml]\n${release()}`), 's/a.yaml': nested('a') },
  },
  ...['name=x', 'k=1', 'k=2', 'k!=1'].map((selector) => ({
    name: `nested states with selectors of their own, where ${selector} is selected`,
    selectors: [selector],
    files: {
      ...states(
        `helmfiles:\n  - {path: s/a.yaml, selectors: [k=1]}\n  - {path: s/b.yaml, selectorsInherited: true}\n  - {path: s/c.yaml, selectors: []}\n${release()}`,
      ),
      's/a.yaml':
        'releases:\n  - {name: x, chart: ../chart, labels: {k: "1"}}\n  - {name: x2, chart: ../chart, labels: {k: "2"}}\n',
      's/b.yaml':
        'releases:\n  - {name: b1, chart: ../chart, labels: {k: "1"}}\n  - {name: b2, chart: ../chart, labels: {k: "2"}}\n',
      's/c.yaml':
        'releases:\n  - {name: c1, chart: ../chart, labels: {k: "1"}}\n  - {name: c2, chart: ../chart, labels: {k: "2"}}\n',
    },
  })),
];

/** Questions that small trees answer; each is asked of helmfile and of us. */
export const helmfileRules: readonly HelmfileRule[] = [
  ...parts,
  ...bases,
  ...environments,
  ...given,
  ...scalars,
  ...releases,
  ...nesting,
];
