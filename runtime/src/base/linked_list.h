// SPDX-License-Identifier: MIT
// Doubly linked lists of objects that hold their own links.
#pragma once

namespace plush {

/// Base of an object that can be in one LinkedList<T, Tag>: its neighbours there.
template <class T, class Tag = T>
struct Links {
  T* previous = nullptr;
  T* next = nullptr;
};

/// A list of objects that it does not own; T derives from Links<T, Tag>. Every call takes constant
/// time and allocates nothing.
template <class T, class Tag = T>
class LinkedList {
 public:
  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }  ///< or null
  T* last() const { return last_; }    ///< or null
  static T* Next(T* element) { return LinksOf(element).next; }
  static T* Previous(T* element) { return LinksOf(element).previous; }

  /// Inserts an element that is in no list of this kind: after `before`, which is in this list, or
  /// at the front if `before` is null.
  void InsertAfter(T* before, T* element) {
    T* const after = before != nullptr ? Next(before) : first_;
    LinksOf(element) = {before, after};
    (before != nullptr ? LinksOf(before).next : first_) = element;
    (after != nullptr ? LinksOf(after).previous : last_) = element;
  }
  void PushBack(T* element) { InsertAfter(last_, element); }

  /// Takes out an element, which is in this list.
  void Remove(T* element) {
    const Links<T, Tag> links = LinksOf(element);
    (links.previous != nullptr ? LinksOf(links.previous).next : first_) = links.next;
    (links.next != nullptr ? LinksOf(links.next).previous : last_) = links.previous;
    LinksOf(element) = {};
  }

 private:
  static Links<T, Tag>& LinksOf(T* element) { return *element; }

  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace plush
