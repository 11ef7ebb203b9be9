import { asTable, differentialCase as test, get, poll, post, put, type Step } from '../case.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function kindOf(group: string, specSchema: object, version: object = {}): Step[] {
  return [
    post('CRD', crds, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `tools.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'tools', kind: 'Tool' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec: specSchema } } },
            ...version,
          },
        ],
      },
    }),
    poll('the kind', toolsOf(group), ({ status }) => status === 200),
  ];
}

function toolsOf(group: string): string {
  return `/apis/${group}/v1/namespaces/{ns}/tools`;
}

const tool = (group: string, name: string, spec: unknown, metadata: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: 'Tool',
  metadata: { name, ...metadata },
  spec,
});

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const shownSpec = {
  list: [
    { n: 1, t: 'a', on: true },
    { n: 2, t: 'b', on: false },
    { n: 3, t: 'c' },
  ],
  map: { x: 1 },
  'a.b/c': 'dotted',
  text: 'hello',
  none: null,
  deep: { deeper: { n: 7 } },
  fraction: 1.5,
};

const paths = [
  '.spec.list[0].n',
  '.spec.list[-1].n',
  '.spec.list[0:2].n',
  '.spec.list[1:].t',
  '.spec.list[:1].t',
  '.spec.list[::2].t',
  '.spec.list[0:9].t',
  '.spec.list[9].t',
  '.spec.list[2:1].t',
  '.spec.list[0,2].t',
  '.spec.list[*].n',
  '.spec.list',
  '.spec.map.*',
  '.spec.map',
  '.spec.deep..n',
  '.spec.list[?(@.n>1)].t',
  '.spec.list[?(@.t=="b")].n',
  ".spec.list[?(@.t == 'b')].n",
  '.spec.list[?(@.t!="a")].n',
  '.spec.list[?(@.n>=2)].t',
  '.spec.list[?(@.on)].t',
  '.spec.list[?(@.on==true)].t',
  '.spec.list[?(@.t==1)].n',
  '.spec.list[?(@.n==2)]',
  String.raw`.spec.a\.b/c`,
  ".spec['a.b/c']",
  String.raw`.spec['a\.b/c']`,
  '.spec.text',
  '.spec.none',
  '.spec.fraction',
  '.spec.missing.deep',
  '.spec.text.deep',
  '.spec.text[0]',
  '.spec',
  '.',
  '.metadata.labels.app',
];

/** Stand last in their CRD, because a table ends before them. */
const brokenPaths = [
  '.spec.list[?(@.t=="b" && @.n==2)].n',
  '.spec.list[',
  '.spec.list[a]',
  '.spec.list[?(@.n',
  '.spec..',
  '....',
];

/** What CRDs may say about tables and rules. */
export const declarations = [
  test(
    'printer columns of every shape',
    ...kindOf('columns.example.com', anything, {
      additionalPrinterColumns: paths.map((jsonPath, index) => ({ name: `C${index}`, type: 'string', jsonPath })),
    }),
    post('tool', toolsOf('columns.example.com'), tool('columns.example.com', 'a', shownSpec)),
    get('table', toolsOf('columns.example.com'), { headers: { accept: asTable }, pick: ({ rows }) => rows[0].cells }),
  ),
  test(
    'printer columns of numbers, flags and dates',
    ...kindOf('typed.example.com', anything, {
      additionalPrinterColumns: ['integer', 'number', 'boolean', 'date'].flatMap((type) =>
        ['.spec.list[1].n', '.spec.list[0].on', '.spec.text', '.spec.fraction', '.spec.none'].map(
          (jsonPath, index) => ({
            name: `${type}${index}`,
            type,
            jsonPath,
          }),
        ),
      ),
    }),
    post('tool', toolsOf('typed.example.com'), tool('typed.example.com', 'a', shownSpec)),
    get('table', toolsOf('typed.example.com'), { headers: { accept: asTable }, pick: ({ rows }) => rows[0].cells }),
  ),
  ...brokenPaths.map((jsonPath, index) => {
    const group = `broken${index}.example.com`;
    return test(
      `printer column ${jsonPath}`,
      ...kindOf(group, anything, {
        additionalPrinterColumns: [
          { name: 'Text', type: 'string', jsonPath: '.spec.text' },
          { name: 'Broken', type: 'string', jsonPath },
          { name: 'After', type: 'string', jsonPath: '.spec.text' },
        ],
      }),
      post('tool', toolsOf(group), tool(group, 'a', shownSpec)),
      get('table', toolsOf(group), {
        headers: { accept: asTable },
        pick: ({ rows, columnDefinitions }) => ({
          cells: rows[0].cells,
          names: columnDefinitions.map(({ name }: { name: string }) => name),
        }),
      }),
    );
  }),
  test(
    'rules on fields named like words of the language',
    ...kindOf('words.example.com', {
      type: 'object',
      properties: Object.fromEntries(
        ['namespace', 'package', 'as', 'if', 'return', 'int', 'type'].map((name) => [name, { type: 'string' }]),
      ),
      'x-kubernetes-validations': [
        { rule: "!has(self.namespace) || self.namespace != 'bad'", message: 'bad namespace' },
        { rule: "!has(self.__namespace__) || self.__namespace__ != 'worse'", message: 'worse namespace' },
        { rule: "!has(self.package) || self.package != 'bad'", message: 'bad package' },
        { rule: "!has(self.as) || self.as != 'bad'", message: 'bad as' },
        { rule: "!has(self.if) || self.if != 'bad'", message: 'bad if' },
        { rule: "!has(self.return) || self.return != 'bad'", message: 'bad return' },
        { rule: "!has(self.int) || self.int != 'bad'", message: 'bad int' },
        { rule: "!has(self.type) || self.type != 'bad'", message: 'bad type' },
      ],
    }),
    ...['namespace', 'package', 'as', 'if', 'return', 'int', 'type'].map((name) =>
      post(`bad ${name}`, toolsOf('words.example.com'), tool('words.example.com', 'a', { [name]: 'bad' })),
    ),
    post('worse', toolsOf('words.example.com'), tool('words.example.com', 'a', { namespace: 'worse' })),
    post('good', toolsOf('words.example.com'), tool('words.example.com', 'a', { namespace: 'good', if: 'x' })),
    put('bad again', `${toolsOf('words.example.com')}/a`, tool('words.example.com', 'a', { if: 'bad' })),
  ),
];
