import { collect, get, openWatch, poll, post, type Step } from '../differential/case.ts';
import { collections, objectOf, type Kind, type Operation } from './operations.ts';
import { anythingCrd, widgetCrd } from './widget-crd.ts';

/** What has to be there before anything is done. */
export const setUp: readonly Step[] = [widgetCrd, anythingCrd].flatMap((crd) => [
  post('CRD', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd),
  poll('the kind', `/apis/property.example.com/v1/${crd.spec.names.plural}`, ({ status }) => status === 200),
]);

const last = 'last';

/**
 * What happened, what is left, and what a watcher was told of it: all up to an object that is made last. A watch for some time
 * would hear of less on a server that is slow.
 */
export function stepsOf(done: readonly Operation[]): Step[] {
  const kinds = Object.entries(collections) as [Kind, string][];
  return [
    ...kinds.map(([kind, path]) =>
      get(`${kind}s at first`, path, { save: { [`first${kind}`]: (body) => body.metadata.resourceVersion } }),
    ),
    ...done.flat(),
    ...kinds.map(([kind, path]) => post(`the last ${kind}`, path, objectOf(kind, last, {}, {}))),
    ...kinds.map(([kind, path]) => get(`${kind}s at last`, path)),
    ...kinds.map(([kind, path]) => openWatch(kind, `${path}?watch=true&resourceVersion={first${kind}}`)),
    ...kinds.map(([kind]) => collect(kind, ({ object }) => object.metadata.name === last)),
  ];
}
