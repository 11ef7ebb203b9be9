import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtobufError, decodeProtobuf } from './decode.ts';
import { goDuration } from './special-messages.ts';

/** A writer as small as the tests need: fields as [number, value], where a list is an embedded message. */
type Value = number | string | Uint8Array | Field[];
type Field = readonly [number: number, value: Value];

function varint(value: number): number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}

function message(fields: readonly Field[]): Uint8Array {
  const bytes: number[] = [];
  for (const [number, value] of fields) {
    if (typeof value === 'number') bytes.push(...varint(number * 8), ...varint(value));
    else {
      const body =
        typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? value : message(value);
      bytes.push(...varint(number * 8 + 2), ...varint(body.length), ...body);
    }
  }
  return Uint8Array.from(bytes);
}

function envelope(apiVersion: string, kind: string, fields: readonly Field[], more: readonly Field[] = []): Uint8Array {
  const unknown = message([
    [
      1,
      [
        [1, apiVersion],
        [2, kind],
      ],
    ],
    [2, message(fields)],
    ...more,
  ]);
  return Buffer.concat([Buffer.from('k8s\0'), unknown]);
}

describe('decodeProtobuf', () => {
  it('reads a Deployment: inlined structs, int-or-string, quantities, explicit zero by pointer', () => {
    const container: Field[] = [
      [1, 'c'],
      [2, 'nginx'],
      [
        6,
        [
          [1, ''],
          [3, 80],
          [4, 'TCP'],
        ],
      ],
      [
        8,
        [
          [
            1,
            [
              [1, 'cpu'],
              [2, [[1, '500m']]],
            ],
          ],
        ],
      ],
      [10, [[1, [[1, [[1, ['true'].join('')]]]]]]],
    ];
    const bytes = envelope('apps/v1', 'Deployment', [
      [
        1,
        [
          [1, 'web'],
          [2, ''],
          [
            11,
            [
              [1, 'app'],
              [2, 'web'],
            ],
          ],
        ],
      ],
      [
        2,
        [
          [1, 0],
          [
            2,
            [
              [
                1,
                [
                  [1, 'app'],
                  [2, 'web'],
                ],
              ],
            ],
          ],
          [
            3,
            [
              [
                2,
                [
                  [
                    1,
                    [
                      [1, 'v'],
                      [2, [[2, [[1, '']]]]],
                    ],
                  ],
                  [2, container],
                  [4, 0],
                ],
              ],
            ],
          ],
          [
            4,
            [
              [1, 'RollingUpdate'],
              [
                2,
                [
                  [
                    1,
                    [
                      [1, 1],
                      [3, '25%'],
                    ],
                  ],
                  [
                    2,
                    [
                      [1, 0],
                      [2, 1],
                    ],
                  ],
                ],
              ],
            ],
          ],
          [5, 0],
        ],
      ],
      [3, []],
    ]);
    expect(decodeProtobuf(bytes)).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      object: {
        metadata: { name: 'web', labels: { app: 'web' } },
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: {},
            spec: {
              volumes: [{ name: 'v', emptyDir: {} }],
              containers: [
                {
                  name: 'c',
                  image: 'nginx',
                  ports: [{ containerPort: 80, protocol: 'TCP' }],
                  resources: { limits: { cpu: '500m' } },
                  livenessProbe: { exec: { command: ['true'] } },
                },
              ],
              terminationGracePeriodSeconds: 0,
            },
          },
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: 1 } },
        },
        status: {},
      },
    });
  });

  it('reads times, bytes, maps and field sets', () => {
    const lease = decodeProtobuf(
      envelope('coordination.k8s.io/v1', 'Lease', [
        [
          1,
          [
            [1, 'l'],
            [8, [[1, 1_700_000_000]]],
            [9, []],
            [
              17,
              [
                [1, 'm'],
                [2, 'Update'],
                [7, [[1, '{"f:spec":{}}']]],
              ],
            ],
          ],
        ],
        [
          2,
          [
            [1, 'me'],
            [
              4,
              [
                [1, 1_700_000_000],
                [2, 123_456_789],
              ],
            ],
          ],
        ],
      ]),
    ).object;
    expect(lease).toEqual({
      metadata: {
        name: 'l',
        creationTimestamp: '2023-11-14T22:13:20Z',
        managedFields: [{ manager: 'm', operation: 'Update', fieldsV1: { 'f:spec': {} } }],
      },
      spec: { holderIdentity: 'me', renewTime: '2023-11-14T22:13:20.123456Z' },
    });
    const secret = decodeProtobuf(
      envelope('v1', 'Secret', [
        [1, [[1, 's']]],
        [
          2,
          [
            [1, 'k'],
            [2, Uint8Array.of(0, 255)],
          ],
        ],
        [3, 'Opaque'],
        [
          4,
          [
            [1, '__proto__'],
            [2, 'x'],
          ],
        ],
      ]),
    ).object;
    expect(JSON.stringify(secret)).toBe(
      '{"metadata":{"name":"s"},"data":{"k":"AP8="},"stringData":{"__proto__":"x"},"type":"Opaque"}',
    );
  });

  it('reads DeleteOptions whatever group they come with, and keeps an explicit zero grace period', () => {
    const options = envelope('apps/v1', 'DeleteOptions', [
      [1, 0],
      [2, [[1, 'uid-1']]],
      [4, 'Foreground'],
      [5, 'All'],
    ]);
    expect(decodeProtobuf(options).object).toEqual({
      gracePeriodSeconds: 0,
      preconditions: { uid: 'uid-1' },
      propagationPolicy: 'Foreground',
      dryRun: ['All'],
    });
  });

  it('reads lists that travel as messages, negative integers and unknown fields', () => {
    const review = decodeProtobuf(
      envelope('authorization.k8s.io/v1', 'SubjectAccessReview', [
        [
          2,
          [
            [3, 'bob'],
            [
              5,
              [
                [1, 'scopes'],
                [
                  2,
                  [
                    [1, 'a'],
                    [1, 'b'],
                  ],
                ],
              ],
            ],
            [99, 'later'],
          ],
        ],
      ]),
    ).object;
    expect(review['spec']).toMatchObject({ user: 'bob', extra: { scopes: ['a', 'b'] } });
    const priority = decodeProtobuf(envelope('scheduling.k8s.io/v1', 'PriorityClass', [[2, -5]])).object;
    expect(priority['value']).toBe(-5);
  });

  it.each([
    ['nothing', new Uint8Array()],
    ['JSON', Buffer.from('{}')],
    ['a cut message', envelope('v1', 'ConfigMap', [[1, [[1, 'name']]]]).subarray(0, 20)],
    ['an unknown kind', envelope('v1', 'Nope', [])],
    ['a wrong wire type', envelope('v1', 'ConfigMap', [[1, 7]])],
    [
      'a quantity that is none',
      envelope('v1', 'PersistentVolumeClaim', [
        [
          2,
          [
            [
              2,
              [
                [
                  2,
                  [
                    [1, 'storage'],
                    [2, [[1, 'lots']]],
                  ],
                ],
              ],
            ],
          ],
        ],
      ]),
    ],
    ['a compressed body', envelope('v1', 'ConfigMap', [], [[3, 'gzip']])],
  ])('refuses %s', (_, bytes) => {
    expect(() => decodeProtobuf(bytes)).toThrow(ProtobufError);
  });

  it('never throws anything else, whatever the bytes', () => {
    const whole = envelope('apps/v1', 'Deployment', [[2, [[3, [[2, [[2, [[1, 'c']]]]]]]]]]);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(whole.length), (noise, cut) => {
        const bytes = Buffer.concat([whole.subarray(0, cut), noise]);
        try {
          decodeProtobuf(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
    );
  });

  it('prints durations as Go does', () => {
    expect([0, 1_500_000_000, 3_723_000_000_000, 150_000_000, -60_000_000_000].map(goDuration)).toEqual([
      '0s',
      '1.5s',
      '1h2m3s',
      '150ms',
      '-1m0s',
    ]);
  });
});
