import { validationError } from '../errors.ts';
import { type AttributeType, type AttributeValue, typeOf } from '../values/attribute-value.ts';
import { compareScalars } from '../values/compare.ts';
