// SPDX-License-Identifier: MIT
// The rigid motions of components without pins that bring them nearest to their prediction.
//
// A rigid motion of such a component changes only the inertial part of the step's objective. So its
// best one is known exactly: the centres of mass meet, and the rotation is that of the polar
// decomposition of sum m r q^T, r and q from the centres at y and at the prediction. The moment of
// M (predicted - y) is then zero, which is implicit Euler's law of angular momentum.
//
// A spring that holds the component adds k |y - moved|^2, as a mass k that rests there would.
#include "base/vector_math.h"
#include "solver/coarse_level.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

using Matrix = double[3][3];

// sum += a b; b may be sum.
void AddProduct(const Matrix& a, const Matrix& b, Matrix* sum) {
  Matrix product;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
    }
  }
  for (size_t i = 0; i < 9; ++i) (*sum)[i / 3][i % 3] += product[i / 3][i % 3];
}

// The turn by about `angle`, see TurnBy in coarse_step.cpp, minus the identity.
void CayleyChange(const double* angle, Matrix* out) {
  const double a[3] = {0.5 * angle[0], 0.5 * angle[1], 0.5 * angle[2]};
  const double square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2], scale = 2.0 / (1.0 + square);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) (*out)[i][j] = scale * a[i] * a[j];
    (*out)[i][i] -= scale * square;
  }
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, k = (i + 2) % 3;
    (*out)[k][j] += scale * a[i];
    (*out)[j][k] -= scale * a[i];
  }
}

// The Newton step's turn at Y = R sum m r q^T: H^-1 g, g the moment and H = tr(Y) I - sym(Y). Zero
// about axes that H does not resist turns about, such as that on which all mass lies.
void NewtonTurn(const Matrix& Y, double* turn) {
  constexpr double kLeastPivot = 1.0e-6;
  const double trace = Y[0][0] + Y[1][1] + Y[2][2], least = 2.0 * kLeastPivot * trace;
  double H[3][3];
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) H[i][j] = -0.5 * (Y[i][j] + Y[j][i]);
    H[i][i] += trace;
  }
  double b[3] = {Y[1][2] - Y[2][1], Y[2][0] - Y[0][2], Y[0][1] - Y[1][0]};
  for (size_t k = 0; k < 3; ++k) {
    const double inverse = H[k][k] > least && trace > 0.0 ? 1.0 / H[k][k] : 0.0;
    for (size_t i = k + 1; i < 3; ++i) {
      const double share = H[i][k] * inverse;
      for (size_t j = k + 1; j < 3; ++j) H[i][j] -= share * H[k][j];
      b[i] -= share * b[k];
    }
    H[k][k] = inverse;
  }
  for (size_t k = 3; k-- > 0;) {
    for (size_t j = k + 1; j < 3; ++j) b[k] -= H[k][j] * turn[j];
    turn[k] = b[k] * H[k][k];
  }
}

// R - I of the rotation R for which tr(R Y) is greatest. Overwrites Y.
void BestTurn(Matrix* Y, Matrix* change) {
  constexpr int kMostSteps = 8;
  constexpr double kLastStep2 = 1.0e-6;  // converges cubically
  for (int step = 0; step < kMostSteps; ++step) {
    double turn[3];
    NewtonTurn(*Y, turn);
    const double square = turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2];
    if (square > 1.0) {
      for (double& angle : turn) angle /= std::sqrt(square);
    }
    Matrix next;
    CayleyChange(turn, &next);
    AddProduct(next, *Y, Y);
    AddProduct(next, *change, change);
    for (size_t i = 0; i < 9; ++i) (*change)[i / 3][i % 3] += next[i / 3][i % 3];
    if (!(square > kLastStep2)) break;
  }
}

struct Point {
  double at[3];
};

Point From(const Vec3& x, const Vec3& origin) {
  return {{double(x.x) - double(origin.x), double(x.y) - double(origin.y),
           double(x.z) - double(origin.z)}};
}

Vec3 ToVec3(const double* v) {
  return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

void ToMatrix(const Mat3& a, Matrix* out) {
  const Vec3* columns[3] = {&a.c0, &a.c1, &a.c2};
  for (size_t j = 0; j < 3; ++j) {
    (*out)[0][j] = columns[j]->x, (*out)[1][j] = columns[j]->y, (*out)[2][j] = columns[j]->z;
  }
}

Mat3 ToMat3(const Matrix& a) {
  Vec3 columns[3];
  for (size_t j = 0; j < 3; ++j) {
    const double column[3] = {a[0][j], a[1][j], a[2][j]};
    columns[j] = ToVec3(column);
  }
  return {columns[0], columns[1], columns[2]};
}

// Where a cluster's motion and its prediction put its centre.
struct Ends {
  Point moved, predicted;

  Ends(float mass, const ClusterSums& sums, const RigidMotion& motion, const Vec3& origin)
      : moved(From(sums.centre, origin)), predicted(moved) {
    const Vec3 &shift = motion.shift, &b = sums.inertia;
    const double shifts[3] = {shift.x, shift.y, shift.z}, pulls[3] = {b.x, b.y, b.z};
    for (size_t i = 0; i < 3; ++i) {
      moved.at[i] += shifts[i];
      predicted.at[i] += pulls[i] / double(mass);
    }
  }
};

// Adds R sum m r q^T of a cluster, r and q from its centres.
void AddSpread(float mass, const ClusterSums& sums, const Matrix& change, Matrix* Y) {
  const Vec3 &s = sums.squares, &p = sums.products;
  Matrix arms, own = {{s.x, p.x, p.z}, {p.x, s.y, p.y}, {p.z, p.y, s.z}};
  ToMatrix(sums.arms, &arms);
  for (size_t i = 0; i < 9; ++i) {
    double* element = &own[i / 3][i % 3];
    *element = double(mass) * *element + arms[i / 3][i % 3];
    (*Y)[i / 3][i % 3] += *element;
  }
  AddProduct(change, own, Y);
}

Point ToPoint(const Vec3& v) { return {{v.x, v.y, v.z}}; }

// sum += a x b.
void AddCross(const Point& a, const Point& b, Point* sum) {
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, k = (i + 2) % 3;
    sum->at[i] += a.at[j] * b.at[k] - a.at[k] * b.at[j];
  }
}

// sum += change b.
void AddChange(const Matrix& change, const Point& b, Point* sum) {
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) sum->at[i] += change[i][j] * b.at[j];
  }
}

// Momentum and angular momentum about a centre, or impulse and moment.
struct Momenta {
  Point linear = {}, angular = {};
};

// A motion to first order: that of a point at arm r from the centre is shift + turn x r.
struct Screw {
  Point shift = {}, turn = {};
};

// How the mass of a component lies about its centre of mass.
class ComponentMass {
 public:
  ComponentMass(const CoarseLevel& level, size_t c, std::span<const ClusterSums> sums)
      : origin_(sums[level.Component(c)[0]].centre) {
    for (const uint16_t k : level.Component(c)) {
      const Point at = From(sums[k].centre, origin_);
      mass_ += double(level.masses[k]);
      for (size_t i = 0; i < 3; ++i) centre_.at[i] += double(level.masses[k]) * at.at[i];
    }
    for (double& coordinate : centre_.at) coordinate /= mass_;
    for (const uint16_t k : level.Component(c)) {
      const Point arm = ArmOf(sums[k].centre);
      Matrix own;
      Square(sums[k], &own);
      for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) {
          square_[i][j] += double(level.masses[k]) * (own[i][j] + arm.at[i] * arm.at[j]);
        }
      }
    }
  }

  // Sum of m r r^T, r from the centre.
  const Matrix& square() const { return square_; }

  Vec3 Centre() const { return origin_ + ToVec3(centre_.at); }

  // From the centre.
  Point ArmOf(const Vec3& x) const {
    Point arm = From(x, origin_);
    for (size_t i = 0; i < 3; ++i) arm.at[i] -= centre_.at[i];
    return arm;
  }

  // Adds a cluster's momenta, angular ones about its own centre.
  void Add(const ClusterSums& sums, const Momenta& of_cluster, Momenta* sum) const {
    for (size_t i = 0; i < 3; ++i) {
      sum->linear.at[i] += of_cluster.linear.at[i];
      sum->angular.at[i] += of_cluster.angular.at[i];
    }
    AddCross(ArmOf(sums.centre), of_cluster.linear, &sum->angular);
  }

  // The rigid motion that has these momenta.
  Screw MotionOf(const Momenta& momenta) const {
    Screw motion;
    Matrix Y;
    std::copy(&square_[0][0], &square_[0][0] + 9, &Y[0][0]);
    for (size_t i = 0; i < 3; ++i) {
      const size_t j = (i + 1) % 3, k = (i + 2) % 3;
      motion.shift.at[i] = momenta.linear.at[i] / mass_;
      Y[j][k] += 0.5 * momenta.angular.at[i];
      Y[k][j] -= 0.5 * momenta.angular.at[i];
    }
    NewtonTurn(Y, motion.turn.at);
    return motion;
  }

  // A cluster's momenta in a motion of its own centre and a turn about it.
  static Momenta Of(double mass, const ClusterSums& sums, const Screw& own) {
    Momenta momenta;
    Matrix S;
    Square(sums, &S);
    for (size_t i = 0; i < 3; ++i) {
      double turned = (S[0][0] + S[1][1] + S[2][2]) * own.turn.at[i];
      for (size_t j = 0; j < 3; ++j) turned -= S[i][j] * own.turn.at[j];
      momenta.linear.at[i] = mass * own.shift.at[i];
      momenta.angular.at[i] = mass * turned;
    }
    return momenta;
  }

 private:
  // Mean of r r^T over a cluster, r from its centre.
  static void Square(const ClusterSums& sums, Matrix* out) {
    const Vec3 &s = sums.squares, &p = sums.products;
    ToMatrix({{s.x, p.x, p.z}, {p.x, s.y, p.y}, {p.z, p.y, s.z}}, out);
  }

  Vec3 origin_;
  double mass_ = 0.0;
  Point centre_ = {};  // from the origin
  Matrix square_ = {};
};

// A motion at a cluster's centre, `arm` from the component's.
Screw At(const Point& arm, const Screw& motion) {
  Screw at = motion;
  AddCross(motion.turn, arm, &at.shift);
  return at;
}

// momenta = h m v of the nodes, and their sums over the clusters.
void SumMomenta(const CoarseLevel& level, std::span<const NodeVec> x, std::span<const NodeVec> v,
                float h, std::span<NodeVec> momenta, std::span<ClusterSums> sums) {
  for (size_t i = 0; i < x.size(); ++i) {
    momenta[i] = NodeVec();
    if (x[i].w > 0.0f) momenta[i] = v[i] * (h / x[i].w);
  }
  level.Sum(x, momenta, sums);
}

// The mean motion that a component makes with the impulses and moments of its clusters.
Screw MeanMotion(const CoarseLevel& level, size_t c, std::span<const ClusterSums> sums,
                 const ComponentMass& mass) {
  Momenta sum;
  for (const uint16_t k : level.Component(c)) {
    mass.Add(sums[k], {ToPoint(sums[k].impulse), ToPoint(sums[k].moment)}, &sum);
  }
  return mass.MotionOf(sum);
}

}  // namespace

void CoarseLevel::Balance(size_t c, std::span<const ClusterSums> sums, std::span<Vec3> impulses,
                          std::span<Vec3> moments) const {
  const ComponentMass mass(*this, c, sums);
  Momenta sum;
  for (const uint16_t k : Component(c)) {
    mass.Add(sums[k], {ToPoint(impulses[k]), ToPoint(moments[k])}, &sum);
  }
  const Screw motion = mass.MotionOf(sum);
  for (const uint16_t k : Component(c)) {
    const Screw own = At(mass.ArmOf(sums[k].centre), motion);
    const Momenta share = ComponentMass::Of(double(masses[k]), sums[k], own);
    impulses[k] -= ToVec3(share.linear.at);
    moments[k] -= ToVec3(share.angular.at);
  }
}

void CoarseLevel::TurnAsOne(size_t c, std::span<const ClusterSums> sums,
                            std::span<RigidMotion> motions) const {
  const ComponentMass mass(*this, c, sums);
  Momenta sum;
  for (const uint16_t k : Component(c)) {
    const Screw own = {ToPoint(motions[k].shift), ToPoint(AngleOf(motions[k].change))};
    mass.Add(sums[k], ComponentMass::Of(double(masses[k]), sums[k], own), &sum);
  }
  const Screw mean = mass.MotionOf(sum);
  double square = 0.0;
  for (const double angle : mean.turn.at) square += angle * angle;
  if (!(square < 1.0)) return;  // C knows nothing of larger turns: see TakeBackMotions
  Matrix change;
  CayleyChange(mean.turn.at, &change);
  for (const uint16_t k : Component(c)) {
    // What the cluster does besides, and then the mean motion.
    Point to = mass.ArmOf(sums[k].centre), shift = ToPoint(motions[k].shift);
    const Screw at = At(to, mean);
    for (size_t i = 0; i < 3; ++i) {
      const double besides = shift.at[i] - at.shift.at[i];
      to.at[i] += besides;
      shift.at[i] = mean.shift.at[i] + besides;
    }
    AddChange(change, to, &shift);
    Matrix own;
    ToMatrix(TurnBy(AngleOf(motions[k].change) - ToVec3(mean.turn.at)), &own);
    AddProduct(change, own, &own);
    for (size_t i = 0; i < 9; ++i) own[i / 3][i % 3] += change[i / 3][i % 3];
    motions[k] = {sums[k].centre, ToVec3(shift.at), ToMat3(own)};
  }
}

void CoarseLevel::TurnPredictions(std::span<const NodeVec> x, std::span<const NodeVec> v, float h,
                                  std::span<NodeVec> momenta, std::span<NodeVec> y) const {
  ClusterSums sums[kMaxClusters];
  SumMomenta(*this, x, v, h, momenta, sums);
  for (size_t c = 0; c < num_components(); ++c) {
    const ComponentMass mass(*this, c, sums);
    Matrix arms = {};  // sum of m r d^T, r from the centre, of ways d
    for (const uint16_t k : Component(c)) {
      const Point impulse = ToPoint(sums[k].impulse), arm = mass.ArmOf(sums[k].centre);
      Matrix own;
      ToMatrix(sums[k].arms, &own);
      for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) arms[i][j] += own[i][j] + arm.at[i] * impulse.at[j];
      }
    }
    // The mean motion d = shift + W r, and the rotation R = I + change of its turn. If the last way
    // was such a turn, d = shift + (I - R^T) r, as velocities are those along it: W r + bend r.
    // (But velocities that a user sets are not.) `bent`: how much of `bend` the ways have.
    const Screw mean = MeanMotion(*this, c, sums, mass);
    Matrix change, W = {}, bend;
    CayleyChange(mean.turn.at, &change);
    for (size_t i = 0; i < 3; ++i) {
      const size_t j = (i + 1) % 3, k = (i + 2) % 3;
      W[k][j] = mean.turn.at[i];
      W[j][k] = -mean.turn.at[i];
    }
    double along = 0.0, square = 0.0;
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) bend[i][j] = -change[j][i] - W[i][j];
    }
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        along += bend[i][j] * arms[j][i];
        for (size_t k = 0; k < 3; ++k) {
          const double spread = mass.square()[j][k];
          along -= bend[i][j] * spread * W[i][k];
          square += bend[i][j] * spread * bend[i][k];
        }
      }
    }
    const double bent = square > 0.0 ? std::fmin(std::fmax(along / square, 0.0), 1.0) : 0.0;
    // Straight on leads by d to r + d. The turn leads by shift to R (r + d - shift - W r - bent
    // bend r). The difference is by_arm r + change (d - shift).
    Matrix by_arm;
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) by_arm[i][j] = -W[i][j] - bent * bend[i][j];
    }
    Matrix turned = {};
    AddProduct(change, by_arm, &turned);
    for (size_t i = 0; i < 9; ++i) {
      (&by_arm[0][0])[i] += (&turned[0][0])[i] + (&change[0][0])[i];
    }
    const Mat3 of_arm = ToMat3(by_arm), of_way = ToMat3(change);
    const Vec3 shift = ToVec3(mean.shift.at), centre = mass.Centre();
    for (const uint16_t k : Component(c)) {
      for (uint32_t m = first_member[k]; m < first_member[k + 1]; ++m) {
        const uint32_t node = members[m];
        y[node] += of_arm * (x[node] - centre) + of_way * (v[node] * h - shift);
      }
    }
  }
}

void CoarseLevel::KeepTurns(std::span<const NodeVec> x, std::span<const NodeVec> before, float h,
                            std::span<NodeVec> momenta, std::span<NodeVec> v) const {
  // Where waves cross many clusters, faster turns strain the body.
  constexpr double kManyClusters = 100.0;
  const double whole = CrossesClusters(h, kManyClusters) ? 0.1 : 0.3, most = whole + 0.1;  // [rad]
  ClusterSums sums[kMaxClusters];
  SumMomenta(*this, x, v, h, momenta, sums);
  for (size_t c = 0; c < num_components(); ++c) {
    const ComponentMass mass(*this, c, sums);
    const Screw way = MeanMotion(*this, c, sums, mass);
    double square = 0.0;
    for (const double angle : way.turn.at) square += angle * angle;
    const double share = std::fmin((most - std::sqrt(square)) / (most - whole), 1.0);
    if (!(share > 0.0)) continue;
    Momenta lost;
    for (const uint16_t k : Component(c)) {
      for (uint32_t m = first_member[k]; m < first_member[k + 1]; ++m) {
        const NodeVec& impulse = momenta[members[m]];
        Point beside = ToPoint(impulse);
        for (size_t i = 0; i < 3; ++i) beside.at[i] -= way.shift.at[i] / double(x[members[m]].w);
        AddCross(ToPoint(before[members[m]]), beside, &lost.angular);
      }
    }
    for (double& number : lost.angular.at) number *= share;
    const Screw found = mass.MotionOf(lost);
    square = 0.0;
    for (const double speed : found.turn.at) square += speed * speed;
    if (!(square * double(h) * double(h) < most * most)) continue;
    const Vec3 more = ToVec3(found.turn.at), centre = mass.Centre();
    for (const uint16_t k : Component(c)) {
      for (uint32_t m = first_member[k]; m < first_member[k + 1]; ++m) {
        v[members[m]] += Cross(more, x[members[m]] - centre);
      }
    }
  }
}

void ComponentHold::Add(float stiffness, const Vec3& r) {
  const double k = double(stiffness), at[3] = {r.x, r.y, r.z};
  mass += k;
  for (size_t i = 0; i < 3; ++i) {
    moment[i] += k * at[i];
    for (size_t j = 0; j < 3; ++j) spread[i][j] += k * at[i] * at[j];
  }
}

void CoarseLevel::KeepMomenta(size_t c, std::span<const ClusterSums> sums,
                              const ComponentHold& hold, std::span<RigidMotion> motions) const {
  const std::span<const uint16_t> component = Component(c);
  const Vec3 origin = sums[component[0]].centre;
  double mass = hold.mass, moved[3], predicted[3];  // centres
  std::copy_n(hold.moment, 3, moved);
  std::copy_n(hold.moment, 3, predicted);
  for (const uint16_t k : component) {
    const Ends ends(masses[k], sums[k], motions[k], origin);
    mass += double(masses[k]);
    for (size_t i = 0; i < 3; ++i) {
      moved[i] += double(masses[k]) * ends.moved.at[i];
      predicted[i] += double(masses[k]) * ends.predicted.at[i];
    }
  }
  for (size_t i = 0; i < 3; ++i) moved[i] /= mass, predicted[i] /= mass;
  Matrix Y, change = {};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      Y[i][j] = hold.spread[i][j] - moved[i] * hold.moment[j] - hold.moment[i] * predicted[j] +
                hold.mass * moved[i] * predicted[j];
    }
  }
  for (const uint16_t k : component) {
    const Ends ends(masses[k], sums[k], motions[k], origin);
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        Y[i][j] += double(masses[k]) * (ends.moved.at[i] - moved[i]) *
                   (ends.predicted.at[j] - predicted[j]);
      }
    }
    Matrix own;
    ToMatrix(motions[k].change, &own);
    AddSpread(masses[k], sums[k], own, &Y);
  }
  BestTurn(&Y, &change);
  for (const uint16_t k : component) {
    const Ends ends(masses[k], sums[k], motions[k], origin);
    const Point start = From(sums[k].centre, origin);
    double shift[3];
    for (size_t i = 0; i < 3; ++i) {
      const double* row = change[i];
      shift[i] = predicted[i] - moved[i] + (ends.moved.at[i] - start.at[i]);
      for (size_t j = 0; j < 3; ++j) shift[i] += row[j] * (ends.moved.at[j] - moved[j]);
    }
    Matrix own;
    ToMatrix(motions[k].change, &own);
    AddProduct(change, own, &own);
    for (size_t i = 0; i < 9; ++i) own[i / 3][i % 3] += change[i / 3][i % 3];
    motions[k] = {sums[k].centre, ToVec3(shift), ToMat3(own)};
  }
}

}  // namespace plush
