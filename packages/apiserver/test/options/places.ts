import { builtinRegistry } from '../../src/builtin-registry.ts';
import { exampleOf, type Example } from '../../src/kinds/examples.fixture.ts';

/** Somewhere requests can be sent to: a kind, or a subresource of it. */
export interface Place {
  /** Such as `apps/v1 deployments/scale`. */
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly collection: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly verbs: readonly string[];
  readonly example: (number: number) => Example;
}

/** A custom kind with both subresources, so that the way of custom resources through the server is swept, too. */
export const gadgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.options.example.com' },
  spec: {
    group: 'options.example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { replicas: { type: 'integer' } } },
              status: { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } },
            },
          },
        },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
      },
    ],
  },
};

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const changing = ['get', 'patch', 'update'];

const customPlaces: readonly Place[] = ['', 'status', 'scale'].map((subresource) => ({
  name: `options.example.com/v1 gadgets${subresource && `/${subresource}`}`,
  apiVersion: 'options.example.com/v1',
  kind: 'Gadget',
  collection: '/apis/options.example.com/v1/namespaces/default/gadgets',
  subresource,
  verbs: subresource ? changing : verbs,
  example: (number) => ({
    object: { metadata: { name: `probe-${number}` }, spec: { replicas: 1 } },
    status: { phase: 'Tested' },
  }),
}));

/** Every place the embedded server stores objects at, and everything below them. */
export const places: readonly Place[] = [
  ...builtinRegistry()
    .resources()
    .filter((resource) => resource.verbs.includes('update'))
    .flatMap(({ group, version, kind, plural, namespaced, verbs: own, subresources }) => {
      const apiVersion = group ? `${group}/${version}` : version;
      const place = {
        apiVersion,
        kind,
        collection: `${group ? '/apis' : '/api'}/${apiVersion}${namespaced ? '/namespaces/default' : ''}/${plural}`,
        example: (number: number) => exampleOf(`${group}/${plural}`, number),
      };
      return [
        { ...place, name: `${apiVersion} ${plural}`, subresource: '', verbs: own },
        ...Object.entries(subresources).map(([subresource, below]) => ({
          ...place,
          name: `${apiVersion} ${plural}/${subresource}`,
          subresource,
          verbs: below.verbs,
        })),
      ];
    }),
  ...customPlaces,
];
