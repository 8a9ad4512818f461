// SPDX-License-Identifier: MIT
// Vectors and 3x3 matrices of any scalar T. Included inside namespace plush by matrix3.h, and once
// more for each instruction set by lane_scalar-inl.h, because GCC compiles a template for the
// instruction set of its definition. Each function begins with PLUSH_FORMULA.

template <class T>
struct Vector3 {
  T x{}, y{}, z{};
};

/// Column-major: c0, c1, c2 are the columns.
template <class T>
struct Matrix3 {
  Vector3<T> c0, c1, c2;
};

template <class T>
PLUSH_FORMULA Vector3<T> operator+(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
PLUSH_FORMULA Vector3<T> operator-(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
PLUSH_FORMULA Vector3<T> operator-(const Vector3<T>& a) {
  return {-a.x, -a.y, -a.z};
}
template <class T>
PLUSH_FORMULA Vector3<T> operator*(const Vector3<T>& a, T s) {
  return {a.x * s, a.y * s, a.z * s};
}
template <class T>
PLUSH_FORMULA T Dot(const Vector3<T>& a, const Vector3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
PLUSH_FORMULA Vector3<T> Cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
PLUSH_FORMULA Matrix3<T> operator+(const Matrix3<T>& a, const Matrix3<T>& b) {
  return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2};
}
template <class T>
PLUSH_FORMULA Matrix3<T> operator-(const Matrix3<T>& a, const Matrix3<T>& b) {
  return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2};
}
template <class T>
PLUSH_FORMULA Matrix3<T> operator*(const Matrix3<T>& a, T s) {
  return {a.c0 * s, a.c1 * s, a.c2 * s};
}
/// Unlike a product with 1 / s, does not overflow if s is tiny.
template <class T>
PLUSH_FORMULA Vector3<T> Divided(const Vector3<T>& a, T s) {
  return {a.x / s, a.y / s, a.z / s};
}
template <class T>
PLUSH_FORMULA Matrix3<T> Divided(const Matrix3<T>& a, T s) {
  return {Divided(a.c0, s), Divided(a.c1, s), Divided(a.c2, s)};
}
/// A v.
template <class T>
PLUSH_FORMULA Vector3<T> operator*(const Matrix3<T>& a, const Vector3<T>& v) {
  return a.c0 * v.x + a.c1 * v.y + a.c2 * v.z;
}
/// A B.
template <class T>
PLUSH_FORMULA Matrix3<T> operator*(const Matrix3<T>& a, const Matrix3<T>& b) {
  return {a * b.c0, a * b.c1, a * b.c2};
}

template <class T>
PLUSH_FORMULA Matrix3<T> DiagonalMatrix(T x, T y, T z) {
  return {{x, T(0), T(0)}, {T(0), y, T(0)}, {T(0), T(0), z}};
}
template <class T>
PLUSH_FORMULA Matrix3<T> IdentityMatrix() {
  return DiagonalMatrix(T(1), T(1), T(1));
}
/// a b^T.
template <class T>
PLUSH_FORMULA Matrix3<T> Outer(const Vector3<T>& a, const Vector3<T>& b) {
  return {a * b.x, a * b.y, a * b.z};
}
template <class T>
PLUSH_FORMULA Matrix3<T> Transpose(const Matrix3<T>& a) {
  return {{a.c0.x, a.c1.x, a.c2.x}, {a.c0.y, a.c1.y, a.c2.y}, {a.c0.z, a.c1.z, a.c2.z}};
}
/// A^T v.
template <class T>
PLUSH_FORMULA Vector3<T> TransposeTimes(const Matrix3<T>& a, const Vector3<T>& v) {
  return {Dot(a.c0, v), Dot(a.c1, v), Dot(a.c2, v)};
}
/// A^T B.
template <class T>
PLUSH_FORMULA Matrix3<T> TransposeTimes(const Matrix3<T>& a, const Matrix3<T>& b) {
  return {TransposeTimes(a, b.c0), TransposeTimes(a, b.c1), TransposeTimes(a, b.c2)};
}
/// (A + A^T) / 2.
template <class T>
PLUSH_FORMULA Matrix3<T> SymmetricPart(const Matrix3<T>& a) {
  return (a + Transpose(a)) * (T(1) / T(2));
}
template <class T>
PLUSH_FORMULA T Trace(const Matrix3<T>& a) {
  return a.c0.x + a.c1.y + a.c2.z;
}
/// A : B, the sum of the products of equal entries.
template <class T>
PLUSH_FORMULA T Inner(const Matrix3<T>& a, const Matrix3<T>& b) {
  return Dot(a.c0, b.c0) + Dot(a.c1, b.c1) + Dot(a.c2, b.c2);
}
template <class T>
PLUSH_FORMULA T Determinant(const Matrix3<T>& a) {
  return Dot(Cross(a.c0, a.c1), a.c2);
}
/// det(A) A^-T, the derivative of the determinant.
template <class T>
PLUSH_FORMULA Matrix3<T> Cofactor(const Matrix3<T>& a) {
  return {Cross(a.c1, a.c2), Cross(a.c2, a.c0), Cross(a.c0, a.c1)};
}
/// Derivative of Cofactor at A in the direction B. Symmetric in A and B, and
/// X : CofactorDifferential(A, B) = B : CofactorDifferential(A, X).
template <class T>
PLUSH_FORMULA Matrix3<T> CofactorDifferential(const Matrix3<T>& a, const Matrix3<T>& b) {
  return {Cross(a.c1, b.c2) + Cross(b.c1, a.c2), Cross(a.c2, b.c0) + Cross(b.c2, a.c0),
          Cross(a.c0, b.c1) + Cross(b.c0, a.c1)};
}
/// v as a cross product: CrossMatrix(v) w = v x w.
template <class T>
PLUSH_FORMULA Matrix3<T> CrossMatrix(const Vector3<T>& v) {
  return {{T(0), v.z, -v.y}, {-v.z, T(0), v.x}, {v.y, -v.x, T(0)}};
}
/// The vector w with CrossMatrix(w) = A - A^T. For all v, A : CrossMatrix(v) = w . v.
template <class T>
PLUSH_FORMULA Vector3<T> TwiceAxial(const Matrix3<T>& a) {
  return {a.c1.z - a.c2.y, a.c2.x - a.c0.z, a.c0.y - a.c1.x};
}
