import type {
  AttributesShape,
  BooleanShape,
  NumberShape,
  StringShape,
  ValueShape,
} from '../validation/shape.ts';
import type { NativeItem } from '../values/marshal.ts';

// An operation's input with plain values where the wire has tagged ones.
export type NativeOf<S> =
  S extends StringShape<infer T>
    ? T
    : S extends NumberShape
      ? number
      : S extends BooleanShape
        ? boolean
        : S extends ValueShape
          ? unknown
          : S extends AttributesShape
            ? NativeItem
            : S extends { kind: 'list'; of: infer E }
              ? NativeOf<E>[]
              : S extends { kind: 'map'; of: infer E }
                ? { [name: string]: NativeOf<E> }
                : S extends { kind: 'structure'; members: infer M }
                  ? NativeMembers<M>
                  : never;

type RequiredNames<M> = { [K in keyof M]: M[K] extends { required: true } ? K : never }[keyof M];
type NativeMembers<M> = { -readonly [K in RequiredNames<M>]: NativeOf<M[K]> } & {
  -readonly [K in Exclude<keyof M, RequiredNames<M>>]?: NativeOf<M[K]> | undefined;
};
